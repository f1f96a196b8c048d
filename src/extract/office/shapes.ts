/**
 * Shapes on a slide or a sheet's drawing layer (DrawingML and PresentationML): texts with where they
 * stand, so that a slide can be read from the top left whatever the order it was drawn in.
 */
import type { Context } from '../extractor.js'
import type { XmlHandler, XmlScanner } from '../xml.js'
import { Alternates } from './alternates.js'
import { alternativeTexts, readChart, readSmartArt } from './drawing.js'
import { EquationReader } from './equation.js'
import { Flow } from './flow.js'
import type { OfficePackage, Relationships } from './package.js'

export interface Shape {
  /** Placeholder type (`title`, `body`, …), `''` for one without, undefined for no placeholder. */
  placeholder: string | undefined
  /** Index that ties a placeholder to the one of its layout. */
  index: string | undefined
  /** Left, top, width and height in EMU, of the parent's space; undefined when inherited. */
  box: [number, number, number, number] | undefined
  /** Text, and parts (charts, SmartArt) that stand in it. */
  content: Array<string | PartReference>
  children: Shape[]
}

export interface PartReference {
  kind: 'chart' | 'smart-art'
  relationship: string
}

/** Shapes read of one part. A slide of a person has tens; each costs memory until the slide is written. */
export const SHAPES_MAX = 100_000
const SHAPES = new Set(['sp', 'pic', 'graphicFrame', 'cxnSp', 'grpSp', 'contentPart'])
const PROPERTIES = new Set([
  'extLst',
  'rPr',
  'pPr',
  'endParaRPr',
  'defRPr',
  'bodyPr',
  'lstStyle',
  'style',
  'tblPr',
  'tblGrid',
  'tcPr',
  'timing',
  'transition',
  'blipFill',
  'f',
  'clientData',
])

/** Collects the shapes of one part; `shapes` is complete when the part is scanned. */
export class ShapeHandler implements XmlHandler {
  readonly shapes: Shape[] = []
  /** The slide or layout does not show what stands on its layout or master. */
  hidesMaster = false
  readonly #withAlternatives: boolean
  readonly #alternates = new Alternates()
  readonly #open: Array<{ shape: Shape; flow: Flow; alternatives: string[] }> = []
  /** Inside `xfrm`, where `off` and `ext` are the shape's own. */
  #inTransform = false
  #isText = false
  #isHiddenField = false
  #equation: EquationReader | undefined
  #count = 0

  /** @param withAlternatives read the alternative texts of drawings too */
  constructor(withAlternatives = true) {
    this.#withAlternatives = withAlternatives
  }

  open(name: string, xml: XmlScanner): void {
    const top = this.#open[this.#open.length - 1]
    if (SHAPES.has(name)) {
      if (++this.#count > SHAPES_MAX) return xml.skip()
      const shape: Shape = {
        placeholder: undefined,
        index: undefined,
        box: undefined,
        content: [],
        children: [],
      }
      ;(top?.shape.children ?? this.shapes).push(shape)
      const flow = new Flow({ write: (text) => shape.content.push(text) })
      this.#open.push({ shape, flow, alternatives: [] })
      return
    }
    if (!top) {
      if (name === 'extLst' || name === 'timing' || name === 'transition') xml.skip()
      else if (name === 'sld' || name === 'sldLayout')
        this.hidesMaster = /^(?:0|false)$/.test(xml.attribute('showMasterSp') ?? '')
      else this.#alternates.open(name, xml)
      return
    }
    const { shape, flow } = top
    this.#equation?.open(name, xml)
    switch (name) {
      case 'oMath':
        this.#equation ??= new EquationReader()
        return
      case 't':
        this.#isText = !this.#isHiddenField
        return
      case 'cNvPr':
        if (this.#withAlternatives) top.alternatives.push(...alternativeTexts(xml))
        return
      case 'ph':
        shape.placeholder = xml.attribute('type') ?? ''
        shape.index = xml.attribute('idx')
        return
      case 'xfrm':
        this.#inTransform = true
        return
      case 'off':
        if (this.#inTransform && !shape.box)
          shape.box = [Number(xml.attribute('x')) || 0, Number(xml.attribute('y')) || 0, 0, 0]
        return
      case 'ext':
        if (this.#inTransform && shape.box) {
          shape.box[2] = Number(xml.attribute('cx')) || 0
          shape.box[3] = Number(xml.attribute('cy')) || 0
        }
        return
      case 'fld':
        this.#isHiddenField = xml.attribute('type') === 'slidenum'
        return
      case 'br':
        return flow.newline()
      case 'tab':
        return flow.text('\t')
      case 'chart':
        return refer(shape, flow, 'chart', xml.relation('id'))
      case 'relIds':
        return refer(shape, flow, 'smart-art', xml.relation('dm'))
      default:
        // m:f is a fraction, c:f and xdr:f a formula
        if (PROPERTIES.has(name) && !(name === 'f' && this.#equation)) {
          this.#equation?.close(name)
          xml.skip()
        } else this.#alternates.open(name, xml)
    }
  }

  close(name: string, xml: XmlScanner): void {
    const top = this.#open[this.#open.length - 1]
    if (!top) {
      // behind the shapes of a slide stand its animations, behind those of a master its styles
      if (name === 'cSld') return xml.finish()
      return this.#alternates.close(name)
    }
    this.#equation?.close(name)
    switch (name) {
      case 'oMath': {
        const latex = this.#equation?.latex()
        this.#equation = undefined
        if (latex !== undefined) top.flow.behind(latex)
        return
      }
      case 't':
        this.#isText = false
        return
      case 'p':
        return top.flow.paragraph()
      case 'tc':
        return top.flow.cell()
      case 'tr':
        return top.flow.newline()
      case 'xfrm':
        this.#inTransform = false
        return
      case 'fld':
        this.#isHiddenField = false
        return
      default:
        if (SHAPES.has(name)) {
          top.flow.newline()
          for (const text of top.alternatives) top.flow.behind(text)
          top.flow.end()
          this.#open.pop()
        } else this.#alternates.close(name)
    }
  }

  text(text: string): void {
    this.#equation?.text(text)
    if (this.#isText) this.#open[this.#open.length - 1]?.flow.text(text)
  }
}

function refer(
  shape: Shape,
  flow: Flow,
  kind: PartReference['kind'],
  relationship: string | undefined,
): void {
  if (relationship === undefined) return
  flow.end()
  shape.content.push({ kind, relationship })
}

/** Writes shapes in the order given, with the parts that stand in them. */
export async function writeShapes(
  shapes: readonly Shape[],
  flow: Flow,
  pack: OfficePackage,
  relationships: Relationships,
  context: Context,
): Promise<void> {
  for (const shape of shapes) {
    for (const piece of shape.content) {
      if (typeof piece === 'string') flow.text(piece.replace(/\n+$/, () => (flow.newline(), '')))
      else {
        const target = relationships.byId(piece.relationship)?.target
        const read = piece.kind === 'chart' ? readChart : readSmartArt
        if (target !== undefined) await read(target, pack, flow, context)
      }
    }
    flow.newline()
    await writeShapes(shape.children, flow, pack, relationships, context)
  }
}
