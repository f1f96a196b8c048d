/**
 * The text that a reader sees in HTML: blocks broken into lines, cells apart, entities decoded,
 * pictures by their alternative text; scripts, styles and hidden elements out.
 *
 * Streams over htmlparser2's tokenizer, without a tree and without a stack of all open elements
 * (200,000 nested elements cost the parser's stack nine seconds), so time and memory follow the
 * input alone. Not responsible for bytes (charset.ts) or for limits (the writer throws).
 */
import { Tokenizer } from 'htmlparser2'

/** Elements that start and end a line. */
const BLOCKS = new Set(
  (
    'address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption ' +
    'figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li listing main ' +
    'menu nav ol optgroup option p plaintext pre section select summary table caption tbody tfoot thead ' +
    'title tr ul br xmp'
  ).split(' '),
)
const CELLS = new Set(['td', 'th'])
/** Elements whose content nobody sees. */
const SILENT = new Set(['script', 'style', 'template', 'noembed', 'noframes', 'datalist', 'iframe'])
/** Elements without content: no end tag follows. */
const VOID = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(
    ' ',
  ),
)
/** Elements that a sibling ends when their own end tag is missing. */
const IMPLIED_END = new Set(['p', 'li', 'dt', 'dd', 'option', 'tr', 'td', 'th'])
const PREFORMATTED = new Set(['pre', 'textarea', 'listing', 'xmp', 'plaintext'])

/** Characters handed to the tokenizer at a time, so that a writer that throws ends the work early. */
const CHUNK = 64 * 1024

/**
 * Writes the visible text of an HTML document, in document order, in pieces.
 *
 * @param write receives text with `\n` between blocks and `\t` between cells; may throw to stop
 */
export function readHtml(html: string, write: (text: string) => void): void {
  let isAnything = false
  const unclosed = render(
    html,
    (text) => {
      isAnything = true
      write(text)
    },
    true,
  )
  if (unclosed < 0) return
  // A hidden element that is never closed would hide the rest of the document: read that openly.
  if (isAnything) write('\n')
  render(html.slice(unclosed), write, false)
}

/**
 * The visible text of an HTML document.
 *
 * @param chars at most so many characters (UTF-16 units)
 */
export function htmlText(html: string, chars = Infinity): string {
  const pieces: string[] = []
  let left = chars
  try {
    readHtml(html, (text) => {
      pieces.push(text.length > left ? text.slice(0, left) : text)
      left -= text.length
      if (left <= 0) throw FULL
    })
  } catch (error) {
    if (error !== FULL) throw error
  }
  return pieces.join('')
}

const FULL = new Error('full')

/** @returns where a hidden element began that was never closed, or -1 */
function render(html: string, write: (text: string) => void, honoursHidden: boolean): number {
  let tag = ''
  let attribute = ''
  let value = ''
  let isHidden = false
  let alt = ''
  let inputType = ''
  let inputValue = ''
  /** Element that hides what is inside it, and how many of its name are open within. */
  let hider = ''
  let hiders = 0
  let hiddenFrom = -1
  let preformatted = 0
  let hasContent = false
  let pendingSpace = false
  let pendingBreak = ''
  /** Open part of a ruby annotation: its reading, or the parentheses around it. */
  let ruby: '' | 'rt' | 'rp' = ''
  let readings = ''

  const slice = (start: number, end: number): string => html.slice(start, end)

  const text = (piece: string): void => {
    if (hider !== '' || piece === '') return
    if (ruby !== '') {
      if (ruby === 'rt') readings += piece.replace(ALL_SPACES, ' ')
      return
    }
    if (preformatted > 0) {
      flush()
      write(piece)
      hasContent = true
      return
    }
    const shown = SPACES.test(piece) ? piece.replace(ALL_SPACES, ' ') : piece
    if (shown === ' ') {
      pendingSpace = true
      return
    }
    let from = 0
    let to = shown.length
    if (shown.charCodeAt(0) === 32) {
      pendingSpace = true
      from = 1
    }
    flush()
    if (shown.charCodeAt(to - 1) === 32) to--
    write(from === 0 && to === shown.length ? shown : shown.slice(from, to))
    hasContent = true
    if (to < shown.length) pendingSpace = true
  }
  const flush = (): void => {
    if (pendingBreak !== '') {
      writeReadings()
      if (hasContent) write(pendingBreak)
    } else if (pendingSpace && hasContent) write(' ')
    pendingBreak = ''
    pendingSpace = false
  }
  /** Readings follow the line, so that a word of several annotated characters stays a word. */
  const writeReadings = (): void => {
    if (readings !== '') write(readings)
    readings = ''
  }
  const lineBreak = (): void => {
    pendingBreak = '\n'
    ruby = ''
  }

  const opened = (isClosed: boolean, tagEnd: number): void => {
    if (hider !== '') {
      if (tag === hider) {
        if (IMPLIED_END.has(tag)) endHidden()
        else if (!isClosed) hiders++
      }
      if (hider !== '') return
    }
    if (SILENT.has(tag) || (isHidden && honoursHidden && !VOID.has(tag) && !isRoot(tag))) {
      if (!isClosed || SILENT.has(tag)) {
        hider = tag
        hiders = 1
        hiddenFrom = tagEnd
        if (BLOCKS.has(tag)) lineBreak()
        return
      }
    }
    if (BLOCKS.has(tag)) {
      lineBreak()
      if (PREFORMATTED.has(tag)) preformatted++
    } else if (CELLS.has(tag)) {
      ruby = ''
      if (pendingBreak === '') pendingBreak = '\t'
    } else if (tag === 'rt' || tag === 'rp') {
      ruby = tag
      if (tag === 'rt') readings += ' '
    } else if (tag === 'rb') {
      ruby = ''
    } else if (tag === 'textarea' || tag === 'button') {
      pendingSpace = true
      if (tag === 'textarea') preformatted++
    } else if (tag === 'img' || tag === 'area') {
      if (alt !== '' && !isHidden) {
        pendingSpace = true
        text(alt)
        pendingSpace = true
      }
    } else if (tag === 'input') {
      if (inputValue !== '' && !/^(hidden|password|radio|checkbox|image)$/.test(inputType)) {
        pendingSpace = true
        text(inputValue)
        pendingSpace = true
      }
    }
  }
  const endHidden = (): void => {
    if (BLOCKS.has(hider)) lineBreak()
    hider = ''
    hiders = 0
  }

  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: true },
    {
      ontext: (start, end) => text(slice(start, end)),
      ontextentity: (codepoint) => text(characterOf(codepoint)),
      onopentagname(start, end) {
        tag = slice(start, end).toLowerCase()
        isHidden = false
        alt = inputType = inputValue = ''
      },
      onattribname(start, end) {
        attribute = slice(start, end).toLowerCase()
        value = ''
      },
      onattribdata(start, end) {
        if (KEPT.has(attribute) && value.length < ATTRIBUTE_CHARS) value += slice(start, end)
      },
      onattribentity(codepoint) {
        if (KEPT.has(attribute) && value.length < ATTRIBUTE_CHARS) value += characterOf(codepoint)
      },
      onattribend() {
        if (attribute === 'hidden') isHidden = true
        else if (attribute === 'style') isHidden ||= HIDING_STYLE.test(value.slice(0, 2000))
        else if (attribute === 'alt') alt = value
        else if (attribute === 'type') inputType = value.toLowerCase()
        else if (attribute === 'value') inputValue = value
      },
      onopentagend: (end) => opened(VOID.has(tag), end + 1),
      // In HTML a slash does not close an element.
      onselfclosingtag: (end) => opened(VOID.has(tag), end + 1),
      onclosetag(start, end) {
        const name = slice(start, end).toLowerCase()
        if (hider !== '') {
          if (name === hider && --hiders <= 0) endHidden()
          else if (isRoot(name) || (IMPLIED_END.has(hider) && ENDS_ALL.has(name))) endHidden()
          return
        }
        if (name === 'p' || BLOCKS.has(name)) lineBreak()
        else if (name === 'rt' || name === 'rp' || name === 'ruby') ruby = ''
        if (PREFORMATTED.has(name) && preformatted > 0) preformatted--
      },
      oncdata: (start, end, offset) => text(slice(start, end - offset)),
      oncomment: () => {},
      ondeclaration: () => {},
      onprocessinginstruction: () => {},
      onend: () => {},
    },
  )
  // The tokenizer counts places over all that it was given.
  for (let at = 0; at < html.length; at += CHUNK) tokenizer.write(html.slice(at, at + CHUNK))
  tokenizer.end()
  writeReadings()
  return hider === '' || SILENT.has(hider) ? -1 : hiddenFrom
}

const SPACES = /[\t\n\f\r]| {2}/
const ALL_SPACES = /[ \t\n\f\r]+/g
/** Characters looked at of one attribute. */
const ATTRIBUTE_CHARS = 20_000
const KEPT = new Set(['style', 'alt', 'type', 'value'])
const HIDING_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|font-size\s*:\s*0(?:px|pt|em|%)?\s*(?:;|$|!))/i
const ENDS_ALL = new Set(['table', 'tbody', 'ul', 'ol', 'dl', 'select', 'div'])

function isRoot(name: string): boolean {
  return name === 'body' || name === 'html'
}

function characterOf(codepoint: number): string {
  return codepoint > 0x10ffff || codepoint < 0 ? '�' : String.fromCodePoint(codepoint)
}
