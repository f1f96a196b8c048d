/** Names that people use for kinds of documents in `type:`, as the kinds and endings of fold/kinds.ts. */

/** Each name with what it stands for; any other name stands for itself. */
const NAMES: Record<string, readonly string[]> = {
  doc: ['doc', 'docx'],
  xls: ['xls', 'xlsx'],
  ppt: ['ppt', 'pptx'],
  jpg: ['jpg', 'jpeg'],
  jpeg: ['jpg', 'jpeg'],
  tif: ['tif', 'tiff'],
  tiff: ['tif', 'tiff'],
  excel: ['sheet'],
  spreadsheet: ['sheet'],
  table: ['sheet'],
  powerpoint: ['slides'],
  presentation: ['slides'],
  picture: ['image'],
  photo: ['image'],
  scan: ['image'],
  zip: ['zip'],
  message: ['mail'],
  email: ['mail'],
  ebook: ['book'],
}

/** Kinds that a name after `type:` asks for, lower case. */
export const kindsNamed = (name: string): readonly string[] =>
  Object.hasOwn(NAMES, name) ? (NAMES[name] as readonly string[]) : [name.replace(/s$/, ''), name]
