/**
 * Equations as LaTeX, the linear form that people who write equations type and search for: Office's own
 * markup (OMML, ECMA-376 part 1, 22.1) and MathML (3.0, chapter 3) alike. The letters of an equation are
 * read where they stand; this is the line behind its paragraph, in which `cos` is a word and θ is `theta`.
 * Not responsible for typesetting: spaces, sizes and alphabets are left out.
 */
import { XmlScanner } from '../xml.js'

interface Node {
  name: string
  text: string
  /** `val` of the character, type and place elements of OMML, and the fences of MathML, by name. */
  marks: Record<string, string>
  children: Node[]
}

/** Nodes of one equation; a larger one is not written by a person. */
const NODES_MAX = 5_000
/** Elements that hold characters. */
const LEAVES = new Set(['t', 'mi', 'mn', 'mo', 'ms', 'mtext'])
/** Elements whose `val` is all they say, beside the attributes of `mfenced`. */
const MARKS = new Set(['chr', 'begChr', 'endChr', 'sepChr', 'type', 'pos', 'degHide'])
const FENCES = ['open', 'close', 'separators']

/** Takes the events inside one `oMath` or `math` element. */
export class EquationReader {
  readonly #root: Node = nodeOf('mrow')
  readonly #open: Node[] = [this.#root]
  #count = 0

  open(name: string, xml: XmlScanner): void {
    // another equation's source, or what the author typed
    if (name === 'annotation' || name === 'annotation-xml') return xml.skip()
    const parent = this.#open[this.#open.length - 1] as Node
    const node = nodeOf(name)
    this.#open.push(node)
    if (++this.#count > NODES_MAX) return
    // a mark belongs to what the properties around it belong to: m:nary/m:naryPr/m:chr
    if (MARKS.has(name)) {
      const owner = this.#open[this.#open.length - 3]
      if (owner) owner.marks[name] = xml.attribute('val') ?? ''
      return
    }
    if (name === 'mfenced')
      for (const fence of FENCES) {
        const value = xml.attribute(fence)
        if (value !== undefined) node.marks[fence] = value
      }
    parent.children.push(node)
  }

  /** Elements that the caller skipped never close: what is open inside of `name` ends with it. */
  close(name: string): void {
    const at = this.#open.findLastIndex((node) => node.name === name)
    if (at > 0) this.#open.length = at
  }

  text(text: string): void {
    if (this.isInLeaf) (this.#open[this.#open.length - 1] as Node).text += text
  }

  /** Whether text that comes now is read. */
  get isInLeaf(): boolean {
    return LEAVES.has((this.#open[this.#open.length - 1] as Node).name)
  }

  /** The equation, or undefined when its letters already say all: `x + 1`. */
  latex(): string | undefined {
    if (this.#count > NODES_MAX) return undefined
    const latex = row(this.#root)
      .replace(/\s+/g, ' ')
      .replace(/(\\\w+) (?=[\\_^{}])/g, '$1')
      .trim()
    return /[\\^_]/.test(latex) ? latex : undefined
  }
}

function nodeOf(name: string): Node {
  return { name, text: '', marks: {}, children: [] }
}

/**
 * The equations (`math`) of a web page as LaTeX, in order.
 *
 * @param xmlDepth open elements of one equation; a deeper one is left out
 */
export function equationsOf(html: string, xmlDepth: number): string[] {
  const equations: string[] = []
  const begin = /<(\w{1,20}:)?math\b/gi
  for (let found = begin.exec(html); found; found = begin.exec(html)) {
    const tag = `</${found[1] ?? ''}math`
    const end = html.indexOf(tag, found.index)
    if (end < 0) break
    begin.lastIndex = end
    const reader = new EquationReader()
    try {
      new XmlScanner(reader, xmlDepth).write(html.slice(found.index, end))
    } catch {
      continue
    }
    const latex = reader.latex()
    if (latex !== undefined) equations.push(latex)
  }
  return equations
}

/** Children one after the other. */
function row({ children }: Node): string {
  return children.map(write).join('')
}

function child(node: Node, name: string): string {
  const found = node.children.find((one) => one.name === name)
  return found ? row(found) : ''
}

/** Child elements of MathML stand for what their place says. */
function place(node: Node, at: number): string {
  const found = node.children[at]
  return found ? write(found) : ''
}

function write(node: Node): string {
  const { name, marks } = node
  switch (name) {
    case 't':
    case 'mi':
    case 'mn':
    case 'mo':
    case 'ms':
    case 'mtext':
      return characters(node.text)
    case 'f':
      return fraction(marks.type, child(node, 'num'), child(node, 'den'))
    case 'mfrac':
      return fraction(undefined, place(node, 0), place(node, 1))
    case 'rad':
      return root(child(node, 'e'), isOn(marks.degHide) ? '' : child(node, 'deg'))
    case 'msqrt':
      return root(row(node), '')
    case 'mroot':
      return root(place(node, 0), place(node, 1))
    case 'sSup':
    case 'sSub':
    case 'sSubSup':
    case 'sPre': {
      const scripts = script('_', child(node, 'sub')) + script('^', child(node, 'sup'))
      return name === 'sPre' ? `{}${scripts}${child(node, 'e')}` : child(node, 'e') + scripts
    }
    case 'msup':
      return place(node, 0) + script('^', place(node, 1))
    case 'msub':
      return place(node, 0) + script('_', place(node, 1))
    case 'msubsup':
      return place(node, 0) + script('_', place(node, 1)) + script('^', place(node, 2))
    case 'nary':
      return (
        characters(marks.chr || '∫') +
        script('_', child(node, 'sub')) +
        script('^', child(node, 'sup')) +
        `{${child(node, 'e')}}`
      )
    case 'd':
      return fenced(
        marks.begChr ?? '(',
        marks.endChr ?? ')',
        node.children.filter((one) => one.name === 'e').map(row),
        marks.sepChr ?? '|',
      )
    case 'mfenced':
      return fenced(
        marks.open ?? '(',
        marks.close ?? ')',
        node.children.map(write),
        (marks.separators ?? ',').trim().slice(0, 1),
      )
    case 'func':
      return `${operator(child(node, 'fName'))} ${child(node, 'e')}`
    case 'acc':
      return accent(marks.chr ?? '\u0302', child(node, 'e'))
    case 'bar':
      return `${marks.pos === 'top' ? '\\overline' : '\\underline'}{${child(node, 'e')}}`
    case 'groupChr': {
      const above = marks.pos === 'top'
      const brace = marks.chr === undefined || marks.chr === '⏟' || marks.chr === '⏞'
      if (brace) return `${above ? '\\overbrace' : '\\underbrace'}{${child(node, 'e')}}`
      return `${above ? '\\overset' : '\\underset'}{${characters(marks.chr ?? '')}}{${child(node, 'e')}}`
    }
    case 'limLow':
      return under(child(node, 'e'), child(node, 'lim'))
    case 'limUpp':
      return over(child(node, 'e'), child(node, 'lim'))
    case 'munder':
      return under(place(node, 0), place(node, 1))
    case 'mover':
      return over(place(node, 0), place(node, 1))
    case 'munderover':
      return isLarge(place(node, 0))
        ? place(node, 0) + script('_', place(node, 1)) + script('^', place(node, 2))
        : over(under(place(node, 0), place(node, 1)), place(node, 2))
    case 'eqArr':
      return environment(
        'aligned',
        node.children.filter((one) => one.name === 'e').map((one) => [row(one)]),
      )
    case 'm':
      return environment(
        'matrix',
        node.children.filter((one) => one.name === 'mr').map((one) => one.children.map(row)),
      )
    case 'mtable':
      return environment(
        'matrix',
        node.children
          .filter((one) => one.name === 'mtr' || one.name === 'mlabeledtr')
          .map((one) => one.children.map(row)),
      )
    case 'mphantom':
      return ''
    default:
      return name.endsWith('Pr') ? '' : row(node)
  }
}

const isOn = (value: string | undefined): boolean =>
  value !== undefined && !/^(?:0|false|off)$/.test(value)

function fraction(type: string | undefined, above: string, below: string): string {
  if (type === 'lin' || type === 'skw') return `${above}/${below}`
  return `${type === 'noBar' ? '\\binom' : '\\frac'}{${above.trim()}}{${below.trim()}}`
}

function root(inside: string, degree: string): string {
  return `\\sqrt${degree === '' ? '' : `[${degree}]`}{${inside}}`
}

function script(mark: '_' | '^', text: string): string {
  return text === '' ? '' : `${mark}{${text.trim()}}`
}

function fenced(open: string, close: string, inside: string[], separator: string): string {
  // brackets around two numbers one above the other are part of the coefficient
  if (inside.length === 1 && /^\\binom\{[^{}]*\}\{[^{}]*\}$/.test(inside[0] as string))
    return inside[0] as string
  const fence = (mark: string): string =>
    mark === '' ? '.' : /[{}]/.test(mark) ? `\\${mark}` : characters(mark).trim()
  return `\\left${fence(open)}${inside.join(characters(separator))}\\right${fence(close)}`
}

function environment(name: string, rows: string[][]): string {
  return `\\begin{${name}}${rows.map((cells) => cells.join(' & ')).join(' \\\\ ')}\\end{${name}}`
}

/** `\sin` for a function that has a name of its own; others as they stand. */
function operator(name: string): string {
  const plain = name.trim()
  return FUNCTIONS.has(plain) ? `\\${plain}` : name
}

function isLarge(base: string): boolean {
  return /^\\(?:sum|prod|coprod|i*int|oint|lim|max|min|sup|inf|bigcup|bigcap)\b/.test(base.trim())
}

function under(base: string, below: string): string {
  const plain = operator(base)
  if (/^[⏟⎵]$/.test(below.trim())) return `\\underbrace{${base}}`
  return isLarge(plain) ? plain.trim() + script('_', below) : `\\underset{${below}}{${base}}`
}

function over(base: string, above: string): string {
  const mark = above.trim()
  const known = Object.entries(ACCENTS).find(
    ([character, command]) => mark === character || mark === command,
  )
  if (known) return `${known[1]}{${base}}`
  return isLarge(base) ? base.trim() + script('^', above) : `\\overset{${above}}{${base}}`
}

function accent(mark: string, base: string): string {
  // Its own rows alone: the mark is whatever the file says.
  const command = Object.hasOwn(ACCENTS, mark) ? ACCENTS[mark] : undefined
  return command ? `${command}{${base}}` : base
}

/** Characters as LaTeX writes them, the alphabets of mathematics as their plain letters. */
function characters(text: string): string {
  const plain = text
    .replace(INVISIBLE, '')
    .replace(ALPHABETS, (letter) => letter.normalize('NFKC'))
    .replace(/&([a-zA-Z]{2,20});/g, '\\$1 ')
  const name = plain.trim()
  if (FUNCTIONS.has(name)) return plain.replace(name, `\\${name} `)
  let out = ''
  for (const character of plain) {
    const command = SYMBOLS[character]
    out += command === undefined ? character : `\\${command} `
  }
  return out
}

/** Bold, italic, script and other letters. */
const ALPHABETS = /[\u{1d400}-\u{1d7ff}]/gu
/** Function application, invisible times, separator and plus; zero width. */
const INVISIBLE = /[\u2061-\u2064\u200b-\u200d]/g

const FUNCTIONS = new Set(
  (
    'arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf ' +
    'limsup ln log max min sec sin sinh sup tan tanh'
  ).split(' '),
)

const ACCENTS: Record<string, string> = {
  '\u0302': '\\hat',
  '^': '\\hat',
  '\u0303': '\\tilde',
  '~': '\\tilde',
  '\u0304': '\\bar',
  '\u0305': '\\overline',
  '¯': '\\overline',
  '‾': '\\overline',
  '\u0307': '\\dot',
  '˙': '\\dot',
  '\u0308': '\\ddot',
  '\u20d7': '\\vec',
  '→': '\\vec',
  '⏞': '\\overbrace',
  '\u030c': '\\check',
  '\u0306': '\\breve',
}

/** Commands by character. */
const SYMBOLS: Record<string, string> = {}
for (const pair of (
  'α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda ' +
  'μ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega ' +
  'Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ' +
  '∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋃ bigcup ⋂ bigcap ∞ infty ∂ partial ∇ nabla √ sqrt ' +
  '× times ÷ div ± pm ∓ mp ⋅ cdot · cdot ∘ circ ∗ ast ⊕ oplus ⊗ otimes … ldots ⋯ cdots ⋮ vdots ⋱ ddots ' +
  '≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ∼ sim ≅ cong ≃ simeq ∝ propto ≪ ll ≫ gg ' +
  '→ rightarrow ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ⟶ longrightarrow ' +
  '∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ∪ cup ∩ cap ∅ emptyset ∖ setminus ' +
  '∀ forall ∃ exists ¬ neg ∧ wedge ∨ vee ⊥ perp ∥ parallel ∠ angle △ triangle ℏ hbar ℓ ell ℵ aleph ' +
  '⟨ langle ⟩ rangle ⌈ lceil ⌉ rceil ⌊ lfloor ⌋ rfloor ‖ Vert'
).matchAll(/(\S+) (\w+)/g))
  SYMBOLS[pair[1] as string] = pair[2] as string
