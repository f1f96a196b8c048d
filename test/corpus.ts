/** Where a folder of real files may lie beside the project; tests that want it skip without it. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PLACES = ['../../shared/corpus', '../../../shared/corpus'].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
)
const BASE = PLACES.find((place) => existsSync(`${place}/INDEX.tsv`)) ?? (PLACES[0] as string)

export const CORPUS = `${BASE}/files`
/** Strings that the documents must give, one document a line. */
export const EXPECTED = `${BASE}/expected.tsv`
/** Pictures with their text. */
export const TRUTH = `${BASE}/ocr-truth.tsv`

export interface CorpusRow {
  /** Relative to `CORPUS`. */
  path: string
  bytes: number
  sha256: string
  type: string
  family: string
}

export function corpusRows(): CorpusRow[] {
  const [, ...lines] = readFileSync(`${BASE}/INDEX.tsv`, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const cells = line.split('\t')
    return {
      path: `${cells[0]?.replace('/', '+')}/${cells[1]}`,
      bytes: Number(cells[3]),
      sha256: cells[4] ?? '',
      type: cells[5] ?? '',
      family: cells[8] ?? '',
    }
  })
}
