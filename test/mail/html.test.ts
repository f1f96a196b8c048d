import { expect, test } from 'vitest'
import { htmlText, readHtml } from '../../src/mail/html.js'

test.each([
  ['blocks break lines', '<p>one</p><p>two</p><div>three<br>four</div>', 'one\ntwo\nthree\nfour'],
  ['runs glue', 'Project<b>X</b>2024 <i>and</i> more', 'ProjectX2024 and more'],
  ['cells stand apart', '<table><tr><td>a</td><td>b</td></tr><tr><td>c<td>d</table>', 'a\tb\nc\td'],
  ['white space folds', '<p>  one \n\t two  </p>\n\n <p> three', 'one two\nthree'],
  ['preformatted text stays', '<pre>a\n  b</pre>', 'a\n  b'],
  [
    'entities are decoded',
    'a&amp;b &#252; &#x3042; &nbsp;&euro; &copy &bogus;',
    'a&b ü あ \u00a0€ © &bogus;',
  ],
  ['impossible entities harm nothing', 'a&#999999999;b&#xD800;c', 'a\ufffdb\ufffdc'],
  ['scripts and styles are out', 'a<script>var x = "<p>no</p>"</script><style>p{}</style>b', 'ab'],
  ['comments are out', 'a<!-- no -->b<!-- > no -->c', 'abc'],
  ['hidden elements are out', 'a<div style="display: none">no<div>no</div></div>b', 'a\nb'],
  ['hidden by attribute', 'a<span hidden>no</span>b', 'ab'],
  ['hidden by visibility', '<p style="color:red;visibility:hidden">no</p>yes', 'yes'],
  ['a hidden cell ends at the next', '<tr><td style="display:none">no<td>yes</tr>', 'yes'],
  [
    'a reading that is never closed ends with its cell',
    '<tr><td>x<rt>y<td>c<td>d</tr>',
    'x y\tc\td',
  ],
  [
    'what a hidden element never closed is shown',
    '<div style="display:none">pre<p>all the rest',
    'pre\nall the rest',
  ],
  ['alternative text', 'see <img src="x" alt="the &quot;plan&quot;"> here', 'see the "plan" here'],
  ['titles', '<head><title>A &amp; B</title></head><body>c', 'A & B\nc'],
  ['lists', '<ul><li>one<li>two</ul>', 'one\ntwo'],
  [
    'fields with text',
    '<input type=text value="name"><input type=hidden value=no><textarea>t\nu</textarea>',
    'name t\nu',
  ],
  ['templates are out', '<template><p>no</p></template>yes', 'yes'],
  ['nothing', '', ''],
  ['a stray less-than sign', '1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
])('%s', (_, html, text) => {
  expect(htmlText(html)).toBe(text)
})

test('text is the same wherever the pieces end', () => {
  const html = '<p title="x">Grüße &amp; <b>more</b> text</p>'.repeat(9000)
  expect(htmlText(html).split('\n')).toHaveLength(9000)
  expect(new Set(htmlText(html).split('\n'))).toEqual(new Set(['Grüße & more text']))
})

test('a writer that throws ends the reading early', () => {
  let written = 0
  expect(() =>
    readHtml('<p>word</p>'.repeat(3_000_000), () => {
      if (++written > 10) throw new Error('enough')
    }),
  ).toThrow('enough')
  expect(htmlText('<p>word</p>'.repeat(1000), 9)).toBe('word\nword')
})

test.each([
  ['nested elements', '<b>'.repeat(500_000) + 'x'],
  ['hidden elements never closed', '<div style="display:none">x'.repeat(50_000)],
  ['less-than signs', '<'.repeat(500_000)],
  ['entities', '&amp'.repeat(200_000)],
  ['comments never closed', '<!-- '.repeat(200_000)],
  ['attributes', `<a ${'style="a" '.repeat(100_000)}>`],
])('%s without end cost no more than their length', (_, html) => {
  const began = performance.now()
  htmlText(html)
  expect(performance.now() - began).toBeLessThan(3000)
})
