/**
 * What pdf.js inflates with: it takes the global DecompressionStream, whose web streams cost far more than the inflating
 * of the few kilobytes that most streams of a PDF are. Small ones are inflated at once instead, by the same zlib, with
 * the same errors.
 *
 * Not responsible for: streams that zlib refuses (pdf.js then reads as far as it gets by itself).
 */
import { inflateSync } from 'node:zlib'

/** Bytes; deflate makes at most 1,032 bytes of one, so what is held at once stays small. */
const AT_ONCE_MAX = 32_768

const { DecompressionStream: WebStream } = globalThis

type Bytes = Uint8Array<ArrayBuffer>

/** The part of a DecompressionStream that pdf.js uses: one write, then the chunks. Called with `new`. */
function Inflating(format: ConstructorParameters<typeof WebStream>[0]): object {
  if (format !== 'deflate') return new WebStream(format)
  let give: (bytes: Bytes) => void
  const given = new Promise<Bytes>((resolve) => (give = resolve))
  const write = async (bytes: Bytes): Promise<void> => give(bytes)
  const writer = { ready: undefined, write, close: async () => {} }
  return { readable: inflated(given), writable: { getWriter: () => writer } }
}

async function* inflated(given: Promise<Bytes>): AsyncGenerator<Uint8Array> {
  const bytes = await given
  if (bytes.length <= AT_ONCE_MAX) {
    yield inflateSync(bytes)
    return
  }
  const { readable, writable } = new WebStream('deflate')
  const writer = writable.getWriter()
  writer.write(bytes).then(
    () => writer.close().catch(() => {}),
    () => {}, // the reading side throws the same
  )
  yield* readable as unknown as AsyncIterable<Uint8Array>
}

/** Puts it in place, in this thread. */
export function inflateAtOnce(): void {
  Object.assign(globalThis, { DecompressionStream: Inflating })
}
