/** What a reading depends on beside the bytes. Frozen at the door and passed down. */
import type { Limits } from './limits.js'

export interface OcrSettings {
  /** Tesseract language names in order of preference, `['eng', 'deu']`. Default `['eng']`. */
  readonly languages: readonly string[]
  /** `wasm`: tesseract.js; `native`: the machine's tesseract; `auto`: native when it is there. */
  readonly engine: 'auto' | 'wasm' | 'native'
  /** Folder with `<lang>.traineddata(.gz)` looked into before the installed data packages. */
  readonly languagePath?: string
}

export interface ReadSettings {
  readonly limits: Limits
  /** `false`: no OCR at all. */
  readonly ocr: OcrSettings | false
  /** Tried on locked documents, in order. */
  readonly passwords: readonly string[]
}
