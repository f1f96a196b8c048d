/**
 * Bytes to outcome: the one way into the table, for a content and for everything nested in it.
 */
import type { DeclinedState, EmptyReason, Lane } from '../part/states.js'
import type { Outcome, ReadResult, TextPage } from '../part/outcome.js'
import type { ReadSettings } from '../part/settings.js'
import { PipelineError } from '../part/errors.js'
import { Budget, Cut } from './budget.js'
import { Declined, EngineFault, type Context, type Extractor, type Facts } from './extractor.js'
import { sniff } from './sniff.js'
import { MEMBER_SEPARATOR, TextSink } from './sink.js'
import { extractorFor } from './table.js'

export interface Document {
  bytes: Uint8Array
  name?: string
  declaredType?: string
  charset?: string
  /** Pages that an earlier reading recognised under the same languages: they are kept, and not recognised again. */
  recognised?: readonly TextPage[]
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
  const members = new Members()
  let engine: string | undefined
  /** Why a member without text has none, when it is more than that it is empty. */
  let memberEmpty: EmptyReason | undefined
  const recognised = new Map(
    (document.recognised ?? []).map((page) => [`${page.member ?? ''}\0${page.page ?? ''}`, page]),
  )
  const context: Context = {
    settings,
    lane,
    budget,
    recognised: (page) => recognised.get(`${sink.member}\0${page ?? ''}`),
    nested,
    note: (sentence) => members.note(sentence),
    declined: (member, state, detail) => members.decline(path(member), state, detail),
  }

  /** Name of a member with those around it, in one line. */
  function path(member: string): string {
    return sink.member === '' ? member : `${sink.member}${MEMBER_SEPARATOR}${member}`
  }

  async function nested(
    bytes: Uint8Array,
    givenName: string,
    memberType = '',
    options: { transparent?: boolean } = {},
  ): Promise<void> {
    budget.takeEntry()
    if (bytes.length === 0) return
    const memberName = inOneLine(givenName)
    const memberSniffed = sniff(bytes, memberType, memberName)
    const reader = extractorFor(memberSniffed)
    if (!reader) return members.decline(path(memberName), 'unsupported', memberSniffed)
    if (budget.depth >= limits.nesting) {
      budget.noteCut('nesting')
      return members.note(`${path(memberName)}: nested too deep`)
    }
    const named = path(memberName)
    budget.depth++
    if (!options.transparent) sink.enter(memberName)
    const before = members.read
    try {
      const facts = await reader.extract(
        { bytes, name: memberName, declaredType: memberType, type: memberSniffed, charset: '' },
        sink,
        context,
      )
      if (facts?.partial) members.note(`${named}: ${facts.partial}`)
      engine ??= facts?.engine
      if (facts?.empty && facts.empty !== 'no-content') memberEmpty ??= facts.empty
      if (members.read === before) members.read++
    } catch (error) {
      if (error instanceof PipelineError || error instanceof Cut) throw error
      if (error instanceof Declined) members.decline(named, error.state, error.detail)
      else if (error instanceof EngineFault) members.note(`${named}: ${error.message}`)
      else members.decline(named, 'damaged', briefly(error))
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

  const partial = members.sentence(facts.partial)
  const nothing = members.nothingRead()
  if (!hasText && !cut && !budget.cutBy && budget.pagesToOcr === 0 && nothing && !facts.empty)
    return result({
      kind: 'declined',
      state: nothing,
      detail: partial || 'pictures under the limits',
    })
  // a flush behind the limit may have met a full text as well; the archive's limit is the graver one
  const cutBy = cut && budget.bytesLeft < 0 ? 'archive-bytes' : (cut?.by ?? budget.cutBy)
  return result({
    kind: 'text',
    pages,
    ...(facts.pageCount !== undefined && { pageCount: facts.pageCount }),
    ...(budget.ocrPages > 0 && { ocrPages: budget.ocrPages }),
    ...(budget.pagesToOcr > 0 && { pagesToOcr: budget.pagesToOcr }),
    ...(!hasText && { empty: facts.empty ?? memberEmpty ?? 'no-content' }),
    ...(cutBy && { cutBy }),
    ...(partial && { partial }),
    ...((facts.engine ?? engine) && { engine: facts.engine ?? engine! }),
  })
}

/** A reading stops itself at this share of its time, so that its text is kept; the thread is ended at the whole. */
const SOFT_SHARE = 0.8

/** What became of the members of a nest. */
class Members {
  /** Members that were read, with text or without. */
  read = 0
  readonly #notes: string[] = []
  readonly #states = new Map<DeclinedState, number>()
  #left = 0

  note(sentence: string): void {
    if (this.#notes.length < NOTES_MAX) this.#notes.push(sentence)
    else this.#left++
  }

  decline(member: string, state: DeclinedState, detail: string): void {
    this.#states.set(state, (this.#states.get(state) ?? 0) + 1)
    // logos and spacers are no loss
    if (state !== 'skipped-tiny') this.note(`${member}: ${state} (${detail})`)
  }

  /** The state of a container none of whose members could be read: the first that somebody can do something about. */
  nothingRead(): DeclinedState | undefined {
    if (this.read > 0) return undefined
    return (['locked', 'too-large', 'damaged', 'unsupported', 'skipped-tiny'] as const).find(
      (state) => this.#states.has(state),
    )
  }

  /** All that was noted, at most a thousand characters. */
  sentence(first: string | undefined): string {
    const notes = first ? [first, ...this.#notes] : this.#notes
    let shown = 0
    let text = ''
    for (const one of notes) {
      if (text.length + one.length > PARTIAL_CHARS) break
      text += (text === '' ? '' : '; ') + one
      shown++
    }
    const left = notes.length - shown + this.#left
    // what is locked decides when the content is due again, so it is said even when there is no room for its name
    const lost = notes.slice(shown).some((one) => one.includes('locked ('))
    return left === 0
      ? text
      : `${text}${text && '; '}${left} more${lost ? ', some locked (password needed)' : ''}`
  }
}

const NOTES_MAX = 1_000
const PARTIAL_CHARS = 900
const NAME_CHARS = 200

/** A name from a document as it may stand in a message: no control characters, not too long. */
function inOneLine(name: string): string {
  const line = name.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
  return line.length > NAME_CHARS ? `${line.slice(0, NAME_CHARS)}…` : line || 'unnamed'
}

/** What a library said, without text of the document in it: what it quotes is left out. */
function briefly(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  return said
    .replace(/"[^"]*"|'[^']*'|`[^`]*`|<[^>]*>|&[^;\s]{1,40};/g, '…')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, 200)
}
