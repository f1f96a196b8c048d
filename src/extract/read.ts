/**
 * Bytes to outcome: the one way into the table, for a content and for everything nested in it.
 */
import type { Lane } from '../part/states.js'
import type { Outcome, ReadResult } from '../part/outcome.js'
import type { ReadSettings } from '../part/settings.js'
import { PipelineError } from '../part/errors.js'
import { Budget, Cut } from './budget.js'
import { Declined, EngineFault, type Context, type Extractor, type Facts } from './extractor.js'
import { sniff } from './sniff.js'
import { TextSink } from './sink.js'
import { extractorFor } from './table.js'

export interface Document {
  bytes: Uint8Array
  name?: string
  declaredType?: string
  charset?: string
}

/**
 * Reads one content.
 *
 * @param instead an extractor to use whatever the type is (tests of the walls); default: the table's
 * @param lane `text` reads all that needs no OCR and reports `pagesToOcr`; `ocr` reads everything
 * @returns never throws for what a document holds; an error thrown from here is ours
 */
export async function readDocument(
  document: Document,
  settings: ReadSettings,
  lane: Lane,
  instead?: Extractor,
): Promise<ReadResult> {
  const began = performance.now()
  const { limits } = settings
  const name = document.name ?? ''
  const declaredType = document.declaredType ?? ''
  const type = sniff(document.bytes, declaredType, name)
  const extractor = instead ?? extractorFor(type)
  const result = (outcome: Outcome): ReadResult => ({
    outcome,
    type,
    ...(extractor && { extractor: extractor.name, version: extractor.version }),
    ms: performance.now() - began,
  })

  if (document.bytes.length > limits.partBytes)
    return result({
      kind: 'declined',
      state: 'too-large',
      detail: `${document.bytes.length} bytes, limit ${limits.partBytes}`,
    })
  if (document.bytes.length === 0) return result({ kind: 'text', pages: [], empty: 'no-content' })
  if (!extractor) return result({ kind: 'declined', state: 'unsupported', detail: type })

  const budget = new Budget(
    limits,
    (lane === 'ocr' ? limits.documentTimeoutMs : limits.textTimeoutMs) * SOFT_SHARE,
    lane === 'ocr' ? 'document-time' : 'text-time',
  )
  const sink = new TextSink(budget)
  const notes: string[] = []
  let engine: string | undefined
  const context: Context = { settings, lane, budget, nested }

  async function nested(
    bytes: Uint8Array,
    memberName: string,
    memberType = '',
    options: { transparent?: boolean } = {},
  ): Promise<void> {
    budget.takeEntry()
    if (bytes.length === 0) return
    const memberSniffed = sniff(bytes, memberType, memberName)
    const reader = extractorFor(memberSniffed)
    if (!reader) {
      notes.push(`${memberName}: unsupported (${memberSniffed})`)
      return
    }
    if (budget.depth >= limits.nesting) throw new Cut('nesting')
    budget.depth++
    if (!options.transparent) sink.enter(memberName)
    try {
      const facts = await reader.extract(
        { bytes, name: memberName, declaredType: memberType, type: memberSniffed, charset: '' },
        sink,
        context,
      )
      if (facts?.partial) notes.push(`${memberName}: ${facts.partial}`)
      engine ??= facts?.engine
    } catch (error) {
      if (error instanceof PipelineError) throw error
      if (error instanceof Cut && error.by !== 'nesting') throw error
      if (error instanceof Cut) notes.push(`${memberName}: ${error.message}`)
      else if (error instanceof Declined) {
        if (error.state !== 'skipped-tiny')
          notes.push(`${memberName}: ${error.state} (${error.detail})`)
      } else if (error instanceof EngineFault) notes.push(`${memberName}: ${error.message}`)
      else notes.push(`${memberName}: damaged (${briefly(error)})`)
    } finally {
      if (!options.transparent) sink.leave()
      budget.depth--
    }
  }

  let facts: Facts = {}
  let cut: Cut | undefined
  try {
    facts =
      (await extractor.extract(
        { bytes: document.bytes, name, declaredType, type, charset: document.charset ?? '' },
        sink,
        context,
      )) ?? {}
  } catch (error) {
    if (error instanceof PipelineError || error instanceof EngineFault) throw error
    if (error instanceof Cut) cut = error
    else if (error instanceof Declined)
      return result({ kind: 'declined', state: error.state, detail: error.detail })
    else facts = { partial: `damaged: ${briefly(error)}` }
  }

  const pages = sink.finish()
  const hasText = pages.some((page) => !page.aside && page.text.trim() !== '')
  if (!hasText && cut?.by === 'archive-bytes')
    return result({
      kind: 'declined',
      state: 'too-large',
      detail: `nothing could be read within ${limits.archiveBytes} inflated bytes`,
    })
  if (!hasText && facts.partial?.startsWith('damaged: ') && budget.pagesToOcr === 0)
    return result({ kind: 'declined', state: 'damaged', detail: facts.partial.slice(9) })

  const partial = [facts.partial, ...notes].filter(Boolean).join('; ').slice(0, 1000)
  return result({
    kind: 'text',
    pages,
    ...(facts.pageCount !== undefined && { pageCount: facts.pageCount }),
    ...(budget.ocrPages > 0 && { ocrPages: budget.ocrPages }),
    ...(budget.pagesToOcr > 0 && { pagesToOcr: budget.pagesToOcr }),
    ...(!hasText && { empty: facts.empty ?? 'no-content' }),
    ...((cut ?? budget.cutBy) && { cutBy: cut?.by ?? budget.cutBy! }),
    ...(partial && { partial }),
    ...((facts.engine ?? engine) && { engine: facts.engine ?? engine! }),
  })
}

/** A reading stops itself at this share of its time, so that its text is kept; the thread is ended at the whole. */
const SOFT_SHARE = 0.8

/** What a library said, without text of the document in it: what it quotes is left out. */
function briefly(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  return said
    .replace(/"[^"]*"|'[^']*'|`[^`]*`|<[^>]*>|&[^;\s]{1,40};/g, '…')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, 200)
}
