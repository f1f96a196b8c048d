/** `paperknife doctor`: OCR engines and languages found on this machine, and how to add one. */
import { inspectOcr } from '../api.js'
import { EXIT } from './exit.js'
import type { Run } from './commands.js'
import { readingOptions } from './options.js'
import { print, printJson } from './terminal.js'

export const run: Run = async (given) => {
  const { ocr } = readingOptions(given)
  const report = await inspectOcr(ocr === false ? {} : ocr)
  if (given.has('json')) {
    await printJson(report)
    return report.engine === undefined ? EXIT.error : EXIT.done
  }
  await print(`node ${process.versions.node} on ${process.platform} ${process.arch}`)
  for (const { name, version, languages } of report.engines)
    await print(`${name} ${version}: ${languages.join(', ') || 'no language'}`)
  const wanted = given.text('languages') ?? 'eng'
  await print(
    report.engine === undefined
      ? `scans in ${wanted} cannot be read: ${report.problem}`
      : `scans in ${wanted} are read by ${report.engine}`,
  )
  const found = new Set(report.engines.flatMap(({ languages }) => languages))
  const missing = wanted.split('+').find((language) => !found.has(language)) ?? 'deu'
  await print(
    `to add a language: npm install @tesseract.js-data/${missing}, or --language-path DIR with ${missing}.traineddata in it`,
  )
  return report.engine === undefined ? EXIT.error : EXIT.done
}
