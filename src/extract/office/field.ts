/** What field instructions of Word say that a person sees (ECMA-376 part 1, 17.16). Their results are text of their own. */
import { symbolCharacter } from './symbols.js'

/** EQ \* jc2 \* "Font:…" \* hps10 \o\ad(\s\up 9(reading),base): a phonetic guide over its base. */
const RUBY =
  /^\s*EQ\b.{0,300}\\o\s*(?:\\a[a-z]\s*)?\(\s*\\s\s*\\up\s*\d*\s*\([^()]*\)\s*[,;]([^()]*)\)/isu

/** The text under a phonetic guide that an EQ field draws, which has no result; undefined for another field. */
export function rubyBase(instruction: string): string | undefined {
  return RUBY.exec(instruction)?.[1]?.trim()
}

/** SYMBOL 97 \f "Symbol" \s 12: a character by its place in a font. */
const SYMBOL = /^\s*SYMBOL\s+(0x[\da-f]+|\d+)\b(?:.{0,300}?\\f\s*"?([^"\\]{1,60}))?/isu

/** MACROBUTTON and GOTOBUTTON: the text of the button. */
const BUTTON = /^\s*(?:MACRO|GOTO)BUTTON\s+[^\s\\]\S*\s+(\S.*)/isu
/** EQ: one letter over others, a fraction, a root, an index. */
const EQUATION = /^\s*EQ\s+(\\.*)/isu

/** The letters of an EQ field in the order they are written, without the switches that place them. */
function equationText(equation: string): string {
  return equation
    .replace(/\\\* ?(?:MERGEFORMAT|jc\d+|"[^"]*"|hps\d+)/gi, '')
    .replace(/\\[a-z]+\s*\d*/gi, '')
    .replace(/\\([(),;\\])|[(),;]/g, (_, meant: string | undefined) => meant ?? ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** What a field shows that has no result: a symbol, the text under a phonetic guide, a button, the letters of an EQ. Undefined for another field. */
export function shownByInstruction(instruction: string): string | undefined {
  const [, code, font = ''] = SYMBOL.exec(instruction) ?? []
  if (code !== undefined) return symbolCharacter(font.trim(), Number(code))
  const button = BUTTON.exec(instruction)?.[1]
  if (button !== undefined) return button.replace(/\\\*\s*MERGEFORMAT\s*$/i, '').trim()
  const equation = EQUATION.exec(instruction)?.[1]
  return rubyBase(instruction) ?? (equation === undefined ? undefined : equationText(equation))
}
