/**
 * Word: docx and its macro, template and strict forms, as a reader sees them: headers, body, footers,
 * notes, comments, text boxes, charts, SmartArt, alternative texts, then embedded documents and pictures.
 * Deleted text, field codes, the prompts of Word in empty controls and phonetic guides stay out.
 *
 * Format: ECMA-376 part 1, chapter 17 (WordprocessingML).
 */
import { posix } from 'node:path'
import { Declined, type Context, type Extractor, type Facts, type Source } from './extractor.js'
import { Alternates } from './office/alternates.js'
import { BoundValues, isPromptOfWord, type Binding } from './office/controls.js'
import { alternativeText, alternativeTexts, readChart, readSmartArt } from './office/drawing.js'
import { EquationReader } from './office/equation.js'
import { shownByInstruction } from './office/field.js'
import { Flow } from './office/flow.js'
import { Inside } from './office/inside.js'
import {
  OfficePackage,
  writeLink,
  writeLinks,
  writeProperties,
  type Relationships,
} from './office/package.js'
import { symbolCharacter } from './office/symbols.js'
import type { TextSink } from './sink.js'
import { scanEntry, type XmlHandler, type XmlScanner } from './xml.js'

export const docx: Extractor = {
  name: 'docx',
  version: 6,
  title: 'Word (docx, docm, dotx, dotm)',
  types: [
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.template',
    'application/vnd.ms-word.document.macroenabled.12',
    'application/vnd.ms-word.template.macroenabled.12',
  ],
  extensions: ['docx', 'docm', 'dotx', 'dotm'],
  lane: 'text',
  extract: readWord,
}

/** Parts around the body by their relationship's type, in the order they are written. */
const BEFORE = ['header']
const AFTER = ['footer', 'footnotes', 'endnotes', 'comments']

async function readWord(source: Source, sink: TextSink, context: Context): Promise<Facts> {
  const pack = await OfficePackage.open(source, context)
  const main = await pack.mainPart('wordprocessingml', 'word/document.xml')
  if (main === undefined) throw new Declined('damaged', 'no main document part')
  const relationships = await pack.relationships(main)
  const inside = new Inside(pack, context)
  const document: WordDocument = {
    pack,
    sink,
    context,
    links: new Set(),
    inside,
    bound: new BoundValues(pack, main),
  }

  const seen = new Set<string>()
  const around = async (types: string[]): Promise<void> => {
    for (const { target } of relationships.ofType(...types)) {
      const chunks: string[] = []
      try {
        await readPart(target, document, new Flow({ write: (text) => chunks.push(text) }))
      } finally {
        const text = chunks.join('')
        if (!seen.has(text)) sink.write(text)
        seen.add(text)
      }
    }
  }
  await around(BEFORE)
  await readPart(main, document, new Flow(sink))
  if (!sink.hasText) await pack.checkRoot(main, 'document')
  for (const type of AFTER) await around([type])
  const written = new Set<string>()
  for (const link of document.links) writeLink(link, written, sink)
  for (const { target } of [{ target: main }, ...relationships.ofType(...BEFORE, ...AFTER)])
    writeLinks(await pack.relationships(target), written, sink)
  await writeProperties(pack, sink, context)
  await inside.read()
  return {
    empty: inside.emptyReason,
    ...(pack.problem && { partial: pack.problem }),
  }
}

interface WordDocument {
  pack: OfficePackage
  sink: TextSink
  context: Context
  /** Targets of HYPERLINK fields. */
  links: Set<string>
  inside: Inside
  bound: BoundValues
}

async function readPart(part: string, document: WordDocument, flow: Flow): Promise<void> {
  const entry = document.pack.member(part)
  if (!entry) return
  const relationships = await document.pack.relationships(part)
  document.inside.collect(relationships)
  const handler = new WordHandler(document, relationships, flow)
  try {
    document.pack.note(
      await scanEntry(entry, document.context.budget, handler, () => handler.readWaiting()),
    )
  } finally {
    flow.end()
  }
}

/** Elements that say how something looks, or looked before; nothing in them is text. */
const PROPERTIES = new Set([
  'rPr',
  'pPrChange',
  'tabs',
  'tabLst',
  'tblPrEx',
  'tblGrid',
  'trPrChange',
  'tcPrChange',
  'sectPr',
  'sdtEndPr',
  'ctrlPr',
  // deleted, moved away, phonetic guides
  'moveFrom',
  'delText',
  'delInstrText',
  'rt',
])

/** Fields open at one time; more are damage. */
const FIELDS_MAX = 1_000

/** Shapes of VML that carry an alternative text. */
const VML_SHAPES = new Set(['shape', 'rect', 'oval', 'roundrect', 'group', 'image', 'polyline'])

/** What is open in a paragraph; a box in it has paragraphs of its own. */
class Running {
  /** Open complex fields, innermost last. */
  readonly fields: Array<{ isInstruction: boolean; says: string }> = []
  /** How many of them are at their instruction: what stands there, results of inner fields too, is not shown. */
  instructions = 0
  /** The next paragraph goes on here: this is its large first letter, in a frame of its own. */
  isContinued = false
}

/** An open content control (`sdt`). */
interface Control {
  isShowingPrompt: boolean
  /** The prompt stands among the building blocks of the document. */
  hasOwnPrompt: boolean
  binding?: Binding
  /** While its prompt is read: where that goes, and where the text around the control goes. */
  prompt?: { chunks: string[]; around: Flow; isBlock: boolean }
}

class WordHandler implements XmlHandler {
  readonly #document: WordDocument
  readonly #relationships: Relationships
  #flow: Flow
  readonly #alternates = new Alternates()
  readonly #controls: Control[] = []
  /** Parts that stand where they are referred to, read when their paragraph is over. */
  #waiting: Array<() => Promise<void>> = []
  #isText = false
  #isInstruction = false
  #running = new Running()
  /** Those around the open boxes. */
  readonly #aroundBoxes: Running[] = []
  #choices: string[] = []
  #choice: number | undefined
  #equation: EquationReader | undefined

  constructor(document: WordDocument, relationships: Relationships, flow: Flow) {
    this.#document = document
    this.#relationships = relationships
    this.#flow = flow
  }

  open(name: string, xml: XmlScanner): void {
    this.#equation?.open(name, xml)
    switch (name) {
      case 't':
        this.#isText = true
        return
      case 'oMath':
        this.#equation ??= new EquationReader()
        return
      case 'p':
        this.#running.isContinued = false
        return
      case 'r':
      case 'pPr':
      case 'tc':
      case 'tcPr':
      case 'tr':
      case 'trPr':
        return
      case 'framePr':
        this.#running.isContinued = /^(?:drop|margin)$/.test(xml.attribute('dropCap') ?? '')
        return
      case 'del':
        // in its properties: the whole row is deleted
        return xml.skip(xml.parent === 'trPr' ? 2 : 0)
      case 'tbl':
        if (this.#running.isContinued) this.#flow.paragraph()
        return
      case 'cellDel':
        return xml.skip(2)
      case 'tab':
      case 'ptab':
        return this.#flow.text('\t')
      case 'br':
      case 'cr':
        return this.#flow.newline()
      case 'noBreakHyphen':
        return this.#flow.text('-')
      case 'sym':
        return this.#flow.text(
          symbolCharacter(xml.attribute('font') ?? '', parseInt(xml.attribute('char') ?? '', 16)),
        )
      case 'txbxContent':
      case 'txBody':
        this.#aroundBoxes.push(this.#running)
        this.#running = new Running()
        return this.#flow.enterBox()
      case 'instrText':
        this.#isInstruction = true
        return
      case 'fldChar':
        return this.#fieldMark(xml.attribute('fldCharType') ?? '')
      case 'fldSimple':
        return this.#fieldLink(xml.attribute('instr') ?? '')
      case 'sdt':
        this.#controls.push({ isShowingPrompt: false, hasOwnPrompt: false })
        return
      case 'showingPlcHdr':
      case 'docPart':
      case 'dataBinding':
        return this.#controlProperty(name, xml)
      case 'sdtContent':
        return this.#controlContent(xml)
      case 'footnote':
      case 'endnote':
        if (/eparator|Notice/.test(xml.attribute('type') ?? '')) xml.skip()
        return
      case 'docPr':
      case 'cNvPr':
        for (const text of alternativeTexts(xml)) this.#flow.behind(text)
        return
      case 'textpath': {
        const text = xml.attribute('string')
        if (text) this.#flow.behind(text)
        return
      }
      case 'tblCaption':
      case 'tblDescription': {
        const text = alternativeText(xml.attribute('val'))
        if (text) this.#flow.behind(text)
        return
      }
      case 'chart':
        return this.#await(xml.relation('id'), readChart)
      case 'relIds':
        return this.#await(xml.relation('dm'), readSmartArt)
      case 'altChunk':
        this.#waiting.push(this.#chunk(xml.relation('id')))
        return xml.pause()
      case 'ddList':
        this.#choices = []
        this.#choice = undefined
        return
      case 'default':
      case 'result':
        if (xml.parent === 'ddList' && (name === 'result' || this.#choice === undefined))
          this.#choice = Number(xml.attribute('val')) || 0
        return
      case 'listEntry':
        this.#choices.push(xml.attribute('val') ?? '')
        return
      default:
        if (PROPERTIES.has(name)) {
          this.#equation?.close(name)
          xml.skip()
        } else if (VML_SHAPES.has(name)) {
          const text = alternativeText(xml.attribute('alt'))
          if (text) this.#flow.behind(text)
        } else this.#alternates.open(name, xml)
    }
  }

  close(name: string, xml: XmlScanner): void {
    this.#equation?.close(name)
    switch (name) {
      case 't':
        this.#isText = false
        return
      case 'oMath': {
        const latex = this.#equation?.latex()
        this.#equation = undefined
        if (latex !== undefined) this.#flow.behind(latex)
        return
      }
      case 'instrText':
        this.#isInstruction = false
        return
      case 'p':
        // a field without a result must not swallow what follows its paragraph
        this.#running.fields.length = 0
        this.#running.instructions = 0
        if (!this.#running.isContinued || this.#waiting.length > 0) this.#flow.paragraph()
        for (const { prompt } of this.#controls) if (prompt) prompt.isBlock = true
        if (this.#waiting.length > 0 && !this.#flow.isInBox) xml.pause()
        return
      case 'tc':
        return this.#flow.cell()
      case 'tr':
        return this.#flow.newline()
      case 'txbxContent':
      case 'txBody':
        this.#running = this.#aroundBoxes.pop() ?? this.#running
        return this.#flow.leaveBox()
      case 'sdtContent':
        return this.#endPrompt(xml)
      case 'sdt':
        this.#controls.pop()
        return
      case 'ddList':
        return this.#flow.text(this.#choices[this.#choice ?? 0] ?? '')
      default:
        this.#alternates.close(name)
    }
  }

  text(text: string): void {
    this.#equation?.text(text)
    if (this.#isText) {
      if (this.#running.instructions === 0) this.#flow.text(text)
    } else if (this.#isInstruction) {
      const field = this.#running.fields[this.#running.fields.length - 1]
      if (field && field.says.length < 4_000) field.says += text
    }
  }

  /** Reads the parts that stand behind the paragraph that is over. */
  async readWaiting(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    for (const read of waiting) await read()
  }

  #await(id: string | undefined, read: typeof readChart): void {
    const { pack, context } = this.#document
    const target = this.#relationships.byId(id)?.target
    if (target !== undefined) this.#waiting.push(() => read(target, pack, this.#flow, context))
  }

  /** An alternative format chunk: html, mht, rtf or another Word document read in place. */
  #chunk(id: string | undefined): () => Promise<void> {
    return async () => {
      const { pack, sink, context } = this.#document
      const target = this.#relationships.byId(id)?.target
      const bytes = target === undefined ? undefined : await pack.bytes(target)
      if (!bytes || target === undefined) return
      sink.write('\n')
      await context.nested(bytes, posix.basename(target), '', { transparent: true })
    }
  }

  #controlProperty(name: string, xml: XmlScanner): void {
    const control = this.#controls[this.#controls.length - 1]
    if (!control) return
    if (name === 'showingPlcHdr')
      control.isShowingPrompt = !/^(?:0|false|off)$/.test(xml.attribute('val') ?? '')
    else if (name === 'docPart')
      control.hasOwnPrompt = !/^Default/i.test(xml.attribute('val') ?? 'Default')
    else
      control.binding = {
        store: xml.attribute('storeItemID') ?? '',
        path: xml.attribute('xpath') ?? '',
      }
  }

  /** The content of a control is text, a prompt is read apart. */
  #controlContent(xml: XmlScanner): void {
    const control = this.#controls[this.#controls.length - 1]
    if (!control?.isShowingPrompt) return
    if (!control.hasOwnPrompt && !control.binding) return xml.skip()
    const chunks: string[] = []
    control.prompt = { chunks, around: this.#flow, isBlock: false }
    this.#flow = new Flow({ write: (text) => chunks.push(text) })
  }

  #endPrompt(xml: XmlScanner): void {
    const control = this.#controls[this.#controls.length - 1]
    if (!control?.prompt) return
    const { chunks, around, isBlock } = control.prompt
    delete control.prompt
    this.#flow.end()
    this.#flow = around
    const prompt = chunks.join('').trim()
    const show = (text: string): void => {
      around.text(text)
      if (isBlock) around.paragraph()
    }
    const shown = control.hasOwnPrompt && !isPromptOfWord(prompt) ? prompt : ''
    const { binding } = control
    if (!binding) return show(shown)
    this.#waiting.push(async () => show((await this.#document.bound.of(binding)) ?? shown))
    xml.pause()
  }

  /** The marks of a complex field: begin, instruction, separate, result, end. */
  #fieldMark(type: string): void {
    const { fields } = this.#running
    if (type === 'begin') {
      if (fields.length >= FIELDS_MAX) return
      fields.push({ isInstruction: true, says: '' })
      this.#running.instructions++
      return
    }
    const field = fields[fields.length - 1]
    if (field?.isInstruction) {
      field.isInstruction = false
      this.#running.instructions--
      this.#fieldLink(field.says)
      const shown = type === 'end' ? shownByInstruction(field.says) : undefined
      const around = fields[fields.length - 2]
      if (shown && this.#running.instructions === 0) this.#flow.text(shown)
      // an equation inside of an equation
      else if (shown && around && around.says.length < 4_000) around.says += shown
    }
    if (type === 'end') fields.pop()
  }

  /** HYPERLINK "target" of a field, or HYPERLINK target. */
  #fieldLink(instruction: string): void {
    const [, quoted, bare] = /^\s*HYPERLINK\s+(?:"([^"]+)"|([^\s"\\]+))/i.exec(instruction) ?? []
    const target = quoted ?? bare
    if (target) this.#document.links.add(target)
  }
}
