/**
 * What a content control of Word shows while it holds no content of its own (ECMA-376 part 1, 17.5.2): the value it is
 * bound to, or the prompt that the author of the form wrote. The prompts of Word itself say nothing about a document.
 */
import type { OfficePackage } from './package.js'
import { parseSmallXml, type SmallElement } from './small-xml.js'

/** How Word begins the prompts it gives to every new control, in the languages of most documents. */
const PROMPT_OF_WORD =
  /^[[\s]*(?:(?:please )?(?:click|tap|type text|choose an item|choose a building block|enter any content)|klicken|tippen|wählen sie|geben sie|cliquez|appuyez|tapez|choisissez|haga clic|pulse|escriba|elija|fare clic|toccare|scegliere|digitare|clique|escolh|klik|tik |kies|kliknij|wybierz|klikn|zvolte|klicka|välj|napsauta|valitse|kattintson|válasszon|место для ввода|щелкните|выберите|ここをクリック|クリックまたは|アイテムを選択|单击|点击|选择一项|按一下|選擇項目|여기를 클릭|항목을 선택)/i

/** What Word's own prompts ask for; those of an author name something of the form, `Click here to enter your name`. */
const ASKED_BY_WORD =
  /text|tekst|testo|szöveg|date|datu|data|dato|dátum|fecha|\bitem|elem|élément|content|inhalt|contenu|conten[iu]|building|baustein|bouwsteen|post\.|objekt|текст|дат|элемент|日付|テキスト|アイテム|文字|文本|日期|[项項]|텍스트|날짜|항목/i

/** Whether a prompt is one that Word gives to every new control. */
export function isPromptOfWord(prompt: string): boolean {
  return PROMPT_OF_WORD.test(prompt) && ASKED_BY_WORD.test(prompt)
}

/** Where a bound control takes its value from. */
export interface Binding {
  /** Id of a custom XML part, with its braces. */
  store: string
  /** XPath of one element or attribute, as Word writes it: `/ns0:order[1]/ns0:buyer[1]`. */
  path: string
}

/** Controls of one document that are looked up; a form has fewer, and each may pass every element of its part. */
const LOOKED_UP_MAX = 2_000

const STEP = /^(?:@|(?:[\w.-]+:)?)([\w.-]+)(?:\[(\d{1,4})\])?$/

/** Values of the custom XML parts of a document, each part read once and only when a control asks for it. */
export class BoundValues {
  readonly #pack: OfficePackage
  readonly #main: string
  #stores: Promise<Map<string, string>> | undefined
  readonly #roots = new Map<string, SmallElement | undefined>()
  #lookedUp = 0

  /** @param main member name of the main part */
  constructor(pack: OfficePackage, main: string) {
    this.#pack = pack
    this.#main = main
  }

  /** The value in one line; undefined when there is none, or the path is none that Word writes. */
  async of({ store, path }: Binding): Promise<string | undefined> {
    if (++this.#lookedUp > LOOKED_UP_MAX) return undefined
    const part = (await (this.#stores ??= this.#findStores())).get(store.toLowerCase())
    if (part === undefined) return undefined
    if (!this.#roots.has(part)) {
      const bytes = await this.#pack.bytes(part)
      this.#roots.set(part, bytes && (await parseSmallXml(bytes)))
    }
    const root = this.#roots.get(part)
    const value = root && valueAt({ name: '', attributes: {}, children: [root], text: '' }, path)
    return value?.replace(/\s+/g, ' ').trim() || undefined
  }

  /** Members by the id of the store they are. */
  async #findStores(): Promise<Map<string, string>> {
    const stores = new Map<string, string>()
    const around = await this.#pack.relationships(this.#main)
    for (const { target } of around.ofType('customXml')) {
      const [properties] = (await this.#pack.relationships(target)).ofType('customXmlProps')
      const bytes = properties && (await this.#pack.bytes(properties.target))
      const id = (bytes && (await parseSmallXml(bytes)))?.attributes.itemID
      if (id !== undefined) stores.set(id.toLowerCase(), target)
    }
    return stores
  }
}

function valueAt(above: SmallElement, path: string): string | undefined {
  let element = above
  for (const step of path.split('/').slice(1)) {
    const [, name, place = '1'] = STEP.exec(step) ?? []
    if (name === undefined) return undefined
    if (step.startsWith('@')) return element.attributes[name]
    const next = element.children.filter((child) => child.name === name)[Number(place) - 1]
    if (!next) return undefined
    element = next
  }
  return element.text
}
