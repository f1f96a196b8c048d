/** `paperknife explain`: the state of each part of a message, why, and what would be tried next. */
import { openVault, type ExplainedPart, type PageReading } from '../api.js'
import { EXIT } from './exit.js'
import type { Run } from './commands.js'
import { vaultOptions } from './options.js'
import {
  bold,
  bytesText,
  counted,
  dateText,
  durationText,
  note,
  plain,
  print,
  printJson,
} from './terminal.js'

/** Messages on screen, for a name or content that many carry. */
const MESSAGES = 10

export const run: Run = async (given) => {
  const mail = await openVault(vaultOptions(given))
  try {
    const what = given.positional.slice(1).join(' ')
    const explanations = await mail.explain(what)
    if (explanations.length === 0)
      note(
        `nothing in the index is called ${plain(what)}: give the path of a message in the vault, its Message-ID, the name of an attachment, or the first 8 digits or more of its SHA-256`,
      )
    const shown = given.has('json') ? explanations : explanations.slice(0, MESSAGES)
    for (const [i, explanation] of shown.entries()) {
      if (given.has('json')) {
        await printJson(explanation)
        continue
      }
      if (i > 0) await print()
      const { subject, date, folder, path, messageId, parts, losses } = explanation
      await print(bold(plain(subject) || '(no subject)'))
      await print(
        [dateText(date), plain(folder), plain(path), messageId && `<${plain(messageId)}>`]
          .filter(Boolean)
          .join('  '),
      )
      for (const loss of losses ?? []) await print(`  not whole: ${plain(loss)}`)
      if (parts.length === 0) await print('  no attachments')
      for (const part of parts) for (const line of partLines(part)) await print(`  ${line}`)
    }
    if (shown.length < explanations.length)
      note(`and ${explanations.length - shown.length} more messages; --json lists them all`)
    return explanations.length > 0 ? EXIT.done : EXIT.nothingFound
  } finally {
    await mail.close()
  }
}

/** Lines about the pages of one part. */
const CHOICES = 20

/** How the pages came by their text, those of one kind that follow each other in one line. */
function choiceLines(choices: readonly PageReading[]): string[] {
  const groups: PageReading[][] = []
  for (const choice of choices) {
    const last = groups.at(-1)
    const same = last?.[0]
    if (
      same &&
      same.member === choice.member &&
      same.took === choice.took &&
      same.why === choice.why
    )
      last.push(choice)
    else groups.push([choice])
  }
  const lines = groups.slice(0, CHOICES).map((group) => {
    const [first] = group as [PageReading]
    const range = (of: (choice: PageReading) => number | undefined): string => {
      const values = group.map(of).filter((value) => value !== undefined)
      const [low, high] = [Math.min(...values), Math.max(...values)]
      return low === high ? String(low) : `${low} to ${high}`
    }
    const place =
      first.page === undefined
        ? 'picture'
        : `page${group.length > 1 ? 's' : ''} ${range(({ page }) => page)}`
    const facts = [
      first.layerScore !== undefined && `text layer ${range((choice) => choice.layerScore)}`,
      first.ocrScore !== undefined && `OCR ${range((choice) => choice.ocrScore)}`,
      first.confidence !== undefined && `confidence ${range((choice) => choice.confidence)}`,
      first.turned && `turned by ${range((choice) => choice.turned)}`,
    ].filter(Boolean)
    return [
      first.member === undefined ? '' : `${first.member}, `,
      `${place}: ${TOOK[first.took]}`,
      first.why === undefined ? '' : `, ${first.why}`,
      facts.length > 0 ? ` (${facts.join(', ')})` : '',
    ].join('')
  })
  const left = groups.length - lines.length
  return left > 0 ? [...lines, `and ${left} more; --json lists them all`] : lines
}
const TOOK = { 'text-layer': 'text layer', ocr: 'OCR', both: 'text layer and OCR' } as const

function partLines(part: ExplainedPart): string[] {
  const read = [
    part.extractor && `${part.extractor} version ${part.version}`,
    part.engine,
    part.pages !== undefined && counted(part.pages, 'page'),
    part.ocrPages && `${part.ocrPages} recognised`,
    part.state === 'ok' && part.chars !== undefined && counted(part.chars, 'character'),
    part.cutBy && `cut by ${part.cutBy}`,
    part.extractor && part.ms !== undefined && durationText(part.ms),
    part.attempts > 1 && `${part.attempts} attempts`,
  ].filter((fact): fact is string => typeof fact === 'string' && fact !== '')
  return [
    `${part.path}  ${plain(part.name) || '(no name)'}, ${bytesText(part.size)}, ${plain(part.type ?? part.declaredType)}`,
    `   ${[part.state, part.reason, part.detail]
      .filter(Boolean)
      .map((text) => plain(text as string))
      .join(': ')}`,
    ...(read.length > 0 ? [`   ${read.map(plain).join(', ')}`] : []),
    ...(part.choices ? choiceLines(part.choices) : []).map((line) => `   ${plain(line)}`),
    `   ${part.hash}, read because ${part.why}`,
    `   next: ${plain(part.next)}`,
  ]
}
