/** Word files of any version, written from runs of bytes ([MS-DOC] and its forms of before Word 97). */
import { oleFile } from './make-ole.js'

export interface WordRun {
  bytes: Buffer
  /** Single property modifiers; in Word 2 the properties as they are. */
  properties?: number[]
}

export interface WordShape {
  ident: number
  build: number
  flags?: number
  language?: number
  characterSet?: number
  /** Character set and name. */
  fonts?: Array<readonly [characterSet: number, name: string]>
  /** Modifiers of the style Normal; Word 6. */
  normal?: number[]
  /** Runs that stand in the file in this order and in the text in the order of `order`. */
  runs: WordRun[]
  order?: number[]
  /** Texts of drawings by the property that holds them; Word 97. */
  drawn?: Array<readonly [property: number, text: string]>
}

const TEXT_AT = 0x300
const u16 = (value: number): number[] => [value & 255, value >> 8]
const u32 = (value: number): number[] => [...u16(value & 0xffff), ...u16(value >>> 16)]

/** The main stream and, from Word 97 on, the table stream. */
export function wordStreams(shape: WordShape): { main: Buffer; table: Buffer } {
  const { ident, build, runs } = shape
  const is97 = ident === 0xa5ec && build >= 105
  const isEarly = build < 100
  const isWide = ((shape.flags ?? 0) & 0x1000) !== 0 && !is97
  const text = Buffer.concat(runs.map(({ bytes }) => bytes))
  const page = Math.ceil((TEXT_AT + text.length) / 512)
  const main = Buffer.alloc((page + 1) * 512)
  text.copy(main, TEXT_AT)

  // one formatted page: places, offsets of properties, properties from the end
  let to = TEXT_AT
  let free = 510
  const places = [to]
  runs.forEach(({ bytes, properties = [] }, i) => {
    places.push((to += bytes.length))
    if (properties.length === 0) return
    free = (free - properties.length - 1) & ~1
    main.set([properties.length, ...properties], page * 512 + free)
    main[page * 512 + 4 * (runs.length + 1) + i] = free / 2
  })
  places.forEach((place, i) => main.writeUInt32LE(place, page * 512 + 4 * i))
  main[page * 512 + 511] = runs.length

  const at: Record<string, readonly [offset: number, length: number]> = {}
  const parts: Buffer[] = is97 ? [] : [main]
  let length = is97 ? 0 : main.length
  const put = (name: string, bytes: number[]): void => {
    at[name] = [length, bytes.length]
    parts.push(Buffer.from(bytes))
    length += bytes.length
  }
  put('characters', [...u32(TEXT_AT), ...u32(to), ...(is97 ? u32(page) : u16(page))])
  put('fonts', fontTable(shape.fonts ?? [], is97))
  put('styles', styleSheet(shape.normal ?? []))
  put('drawings', is97 && shape.drawn ? propertyTable(shape.drawn) : [])
  const perCharacter = isWide ? 2 : 1
  if (shape.order || is97) {
    const order = shape.order ?? runs.map((_, i) => i)
    const positions = [0]
    for (const i of order)
      positions.push(
        (positions.at(-1) as number) + (runs[i] as WordRun).bytes.length / perCharacter,
      )
    const pieces = [
      ...positions.flatMap(u32),
      ...order.flatMap((i) => {
        const place = places[i] as number
        return [0, 0, ...u32(is97 ? place * 2 + 0x40000000 : place), 0, 0]
      }),
    ]
    put('clx', [2, ...(isEarly ? u16(pieces.length) : u32(pieces.length)), ...pieces])
  }

  const fib = is97
    ? { counts: 0x4c, clx: 0x1a2, characters: 0xfa, fonts: 0x112, drawings: 0x22a }
    : isEarly
      ? { counts: 0x34, clx: ident === 0xa59b ? 0x112 : 0x11e, characters: 0xa0 }
      : { counts: 0x34, clx: 0x160, characters: 0xb8, fonts: 0xd0, styles: 0x60 }
  main.writeUInt16LE(ident, 0)
  main.writeUInt16LE(build, 2)
  main.writeUInt16LE(shape.language ?? 0x409, 6)
  main.writeUInt16LE(shape.flags ?? 0, 10)
  main.writeUInt16LE(shape.characterSet ?? 0, 0x14)
  main.writeUInt32LE(TEXT_AT, 0x18)
  main.writeUInt32LE(TEXT_AT + text.length, 0x1c)
  main.writeUInt32LE(text.length / perCharacter, fib.counts)
  for (const [name, place] of Object.entries(fib)) {
    const [offset, bytes] = at[name] ?? [0, 0]
    if (name === 'counts' || bytes === 0) continue
    main.writeUInt32LE(offset, place)
    if (isEarly) main.writeUInt16LE(bytes, place + 4)
    else main.writeUInt32LE(bytes, place + 4)
  }
  const all = Buffer.concat(parts)
  return is97 ? { main, table: all } : { main: all, table: Buffer.alloc(0) }
}

/** The file: a compound file, or the stream alone before Word 6. */
export function wordFile(shape: WordShape): Buffer {
  const { main, table } = wordStreams(shape)
  if (shape.build < 100) return main
  return oleFile({ WordDocument: main, ...(table.length > 0 && { '0Table': table }) })
}

function fontTable(fonts: NonNullable<WordShape['fonts']>, is97: boolean): number[] {
  const entries = fonts.flatMap(([characterSet, name]) => {
    const head = [0, ...u16(400), characterSet, 0, ...(is97 ? new Array<number>(34).fill(0) : [])]
    const entry = [...head, ...Buffer.from(`${name}\0`, is97 ? 'utf16le' : 'latin1')]
    return [entry.length, ...entry]
  })
  return is97 ? [...u16(fonts.length), 0, 0, ...entries] : [...u16(entries.length + 2), ...entries]
}

/** A shape's table of properties ([MS-ODRAW] 2.2.9), the texts behind a property that is a number. */
function propertyTable(texts: NonNullable<WordShape['drawn']>): number[] {
  const values = texts.map(([, text]) => [...Buffer.from(`${text}\0`, 'utf16le')])
  const content = [
    ...[4, 0, ...u32(0)],
    ...texts.flatMap(([property], i) => [
      ...u16(property | 0x8000),
      ...u32((values[i] as number[]).length),
    ]),
    ...values.flat(),
  ]
  const table = [
    ...u16(((texts.length + 1) << 4) | 3),
    ...u16(0xf00b),
    ...u32(content.length),
    ...content,
  ]
  // inside of a shape, which stands at an odd place
  return [0, ...u16(15), ...u16(0xf004), ...u32(table.length), ...table]
}

/** One style, Normal: its name, an empty set of paragraph properties, those of characters. */
function styleSheet(modifiers: number[]): number[] {
  const name = [6, ...Buffer.from('Normal\0', 'latin1')]
  const style = [...new Array<number>(8).fill(0), ...name, ...u16(0), ...u16(modifiers.length)]
  return [
    ...u16(4),
    ...u16(1),
    ...u16(8),
    ...u16(style.length + modifiers.length),
    ...style,
    ...modifiers,
  ]
}
