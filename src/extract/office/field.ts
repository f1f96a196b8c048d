/** What field instructions of Word say that a person sees (ECMA-376 part 1, 17.16). Their results are text of their own. */

/** EQ \* jc2 \* "Font:…" \* hps10 \o\ad(\s\up 9(reading),base): a phonetic guide over its base. */
const RUBY =
  /^\s*EQ\b.{0,300}\\o\s*(?:\\a[a-z]\s*)?\(\s*\\s\s*\\up\s*\d*\s*\([^()]*\)\s*[,;]([^()]*)\)/isu

/** The text under a phonetic guide that an EQ field draws, which has no result; undefined for another field. */
export function rubyBase(instruction: string): string | undefined {
  return RUBY.exec(instruction)?.[1]?.trim()
}
