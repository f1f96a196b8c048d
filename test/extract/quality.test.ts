import { describe, expect, test } from 'vitest'
import { textQuality } from '../../src/extract/ocr/quality.js'
import { faultOfLayer } from '../../src/extract/pdf/decide.js'

const SOUND: Record<string, string> = {
  English:
    'The committee met on Tuesday to discuss the repairs of the eastern pier. Several members pointed out that the timber had been ordered in spring and had still not arrived, although the merchant had promised to deliver it before the first storms of autumn.',
  German:
    'Der Ausschuss trat am Dienstag zusammen, um über die Ausbesserung des östlichen Anlegers zu beraten. Mehrere Mitglieder wiesen darauf hin, dass das Holz schon im Frühling bestellt worden war und noch immer nicht geliefert ist, obwohl der Händler es versprochen hatte.',
  Polish:
    'Komisja zebrała się we wtorek, aby omówić naprawę wschodniego pomostu. Kilku członków zwróciło uwagę, że drewno zamówiono już na wiosnę i nadal go nie dostarczono, choć sprzedawca obiecał przywieźć je przed pierwszymi jesiennymi burzami na zatoce.',
  Finnish:
    'Toimikunta kokoontui tiistaina keskustelemaan itäisen laiturin korjauksesta. Useat jäsenet huomauttivat, että puutavara oli tilattu jo keväällä eikä sitä ollut vieläkään toimitettu, vaikka kauppias oli luvannut tuoda sen ennen syksyn ensimmäisiä myrskyjä.',
  Turkish:
    'Kurul salı günü doğu iskelesinin onarımını görüşmek üzere toplandı. Birkaç üye kerestenin ilkbaharda sipariş edildiğini ve tüccarın sonbaharın ilk fırtınalarından önce getireceğine söz vermesine rağmen henüz teslim edilmediğini belirtti.',
  Russian:
    'Комиссия собралась во вторник, чтобы обсудить ремонт восточного причала. Несколько членов указали на то, что лес был заказан ещё весной и до сих пор не доставлен, хотя торговец обещал привезти его до первых осенних бурь, когда по заливу уже не пройти.',
  Greek:
    'Η επιτροπή συνεδρίασε την Τρίτη για να συζητήσει την επισκευή της ανατολικής προβλήτας. Αρκετά μέλη επισήμαναν ότι η ξυλεία είχε παραγγελθεί την άνοιξη και δεν είχε ακόμη παραδοθεί, αν και ο έμπορος είχε υποσχεθεί να τη φέρει πριν από τις καταιγίδες.',
  Japanese:
    '委員会は火曜日に集まり、東側の桟橋の修理について話し合った。木材は春に注文されたが、まだ届いていない。',
  'a list of part numbers':
    'AX-4471 BR-0092 KL7 QQ-118 ZT-5550 VW-2 HJ-901 PN-44 TR-7 XK-120 GT-40 MB-300 SL-65 CF-104 FW-190 HE-111 DB-9 RS-4 GL-2 TX-1 LV-426 NX-01 CV-6 BB-63 DD-445 SS-238',
}

describe('sound text is trusted, whatever its language', () => {
  test.each(Object.entries(SOUND))('%s', (_language, text) => {
    expect(faultOfLayer(textQuality(text))).toBeUndefined()
    expect(faultOfLayer(textQuality(text), true)).toBeUndefined()
  })
})

describe('damaged text is not', () => {
  const english = SOUND.English!
  const shifted = (by: number): string =>
    english.replace(/[a-z]/gi, (letter) => {
      const base = letter <= 'Z' ? 65 : 97
      return String.fromCharCode(((letter.charCodeAt(0) - base + by) % 26) + base)
    })
  test.each([3, 7, 13, 20])('letters shifted by %i', (by) => {
    expect(faultOfLayer(textQuality(shifted(by)))).toBe('words are no words')
  })
  test('codes of a subset font shifted out of the alphabet', () => {
    const codes = english.replace(/\S/g, (c) => String.fromCharCode(c.charCodeAt(0) - 29))
    expect(faultOfLayer(textQuality(codes))).toBeDefined()
  })
  // docling#2963, #3081, #2170
  test.each([
    ['names of glyphs', english.replace(/[a-z]/g, (c) => `/g${c.charCodeAt(0)} `)],
    ['codes in brackets', english.replace(/[a-z]/g, (c) => `(cid:${c.charCodeAt(0)})`)],
  ])('%s for letters', (_, written) => {
    expect(faultOfLayer(textQuality(written))).toBeDefined()
  })
  test('letters apart', () => {
    expect(faultOfLayer(textQuality([...english].join(' ')))).toBe('letters apart')
  })
  test.each([
    ['control characters', '\u0003'],
    ['upper controls', '\u0091'],
    ['private use', '\ue042'],
    ['replacement characters', '\ufffd'],
  ])('glyphs without a map: %s', (_name, bad) => {
    expect(faultOfLayer(textQuality(english.replace(/[eo]/g, bad)))).toBe(
      'characters without meaning',
    )
  })
  test('a few such characters, or bullets of a symbol font, are no damage', () => {
    expect(faultOfLayer(textQuality(`${english}\u0003\ufffd`))).toBeUndefined()
    expect(faultOfLayer(textQuality(`\uf0b7 ${english}`.repeat(30)))).toBeUndefined()
  })
})
