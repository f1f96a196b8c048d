/** `paperknife explain`: the state of each part of a message, why, and what would be tried next. */
import { openVault, type ExplainedPart } from '../api.js'
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
    const explanations = await mail.explain(given.positional.slice(1).join(' '))
    const shown = given.has('json') ? explanations : explanations.slice(0, MESSAGES)
    for (const [i, explanation] of shown.entries()) {
      if (given.has('json')) {
        await printJson(explanation)
        continue
      }
      if (i > 0) await print()
      const { subject, date, folder, path, messageId, parts } = explanation
      await print(bold(plain(subject) || '(no subject)'))
      await print(
        [dateText(date), plain(folder), plain(path), messageId && `<${plain(messageId)}>`]
          .filter(Boolean)
          .join('  '),
      )
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
    `   ${part.hash}, read because ${part.why}`,
    `   next: ${plain(part.next)}`,
  ]
}
