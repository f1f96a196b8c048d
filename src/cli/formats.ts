/** `paperknife formats`: what is read, by which extractor, at which version. */
import { formats } from '../api.js'
import { EXIT } from './exit.js'
import type { Run } from './commands.js'
import { print, printJson } from './terminal.js'

export const run: Run = async (given) => {
  const rows = formats()
  if (given.has('json')) {
    for (const row of rows) await printJson(row)
    return EXIT.done
  }
  const width = Math.max(...rows.map(({ name }) => name.length))
  for (const { name, version, title, lane } of rows)
    await print(
      `${name.padEnd(width)}  ${String(version).padStart(3)}  ${title}${lane === 'ocr' ? ', by OCR' : ''}`,
    )
  return EXIT.done
}
