/**
 * Writes small Office documents for the sample vault and the fixtures: docx, xlsx, pptx.
 *
 * The same arguments give the same bytes (fixed dates, fixed order), so that a made file changes only
 * when its text does. Not responsible for odd or broken documents: those are made where they are tested.
 */
import JSZip from 'jszip'

/** Members of a zip, in order. */
export type Members = Record<string, string | Uint8Array>

const WHEN = new Date(Date.UTC(2024, 0, 1))

/** Packs members into a zip whose bytes depend on nothing but them. */
export async function zip(members: Members): Promise<Uint8Array> {
  const archive = new JSZip()
  for (const [name, content] of Object.entries(members))
    archive.file(name, content, { date: WHEN, createFolders: false })
  return archive.generateAsync({
    type: 'uint8array',
    compression: 'DEFLATE',
    compressionOptions: { level: 9 },
    platform: 'UNIX',
  })
}

export const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'

export function contentTypes(overrides: Record<string, string>): string {
  const rows = Object.entries(overrides).map(
    ([part, type]) =>
      `<Override PartName="/${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`,
  )
  return `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>${rows.join('')}</Types>`
}

/** @param targets `[type, target]`, ids rId1, rId2 … in order; a type with a colon is taken whole */
export function relationships(targets: Array<[string, string]>): string {
  const rows = targets.map(
    ([type, target], i) =>
      `<Relationship Id="rId${i + 1}" Type="${type.includes(':') ? type : `${RELATION}/${type}`}" Target="${xml(target)}"/>`,
  )
  return `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${rows.join('')}</Relationships>`
}

/** A paragraph, a heading (`# ` before it) or a table (rows of cells). */
export type Block = string | string[][]

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

function wordParagraph(text: string): string {
  const heading = text.startsWith('# ')
  const style = heading ? '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' : ''
  return `<w:p>${style}<w:r><w:t xml:space="preserve">${xml(heading ? text.slice(2) : text)}</w:t></w:r></w:p>`
}

function wordTable(rows: string[][]): string {
  const cell = (text: string): string =>
    `<w:tc><w:tcPr><w:tcW w:w="2400" w:type="dxa"/></w:tcPr>${wordParagraph(text)}</w:tc>`
  return `<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/></w:tblPr>${rows
    .map((row) => `<w:tr>${row.map(cell).join('')}</w:tr>`)
    .join('')}</w:tbl>`
}

/** A Word document; `footer` is printed on each page. */
export function docx(blocks: Block[], footer = ''): Promise<Uint8Array> {
  const body = blocks.map((b) => (typeof b === 'string' ? wordParagraph(b) : wordTable(b))).join('')
  const reference = footer ? '<w:footerReference w:type="default" r:id="rId1"/>' : ''
  return zip({
    '[Content_Types].xml': contentTypes({
      'word/document.xml': 'wordprocessingml.document.main',
      ...(footer && { 'word/footer1.xml': 'wordprocessingml.footer' }),
    }),
    '_rels/.rels': relationships([['officeDocument', 'word/document.xml']]),
    'word/document.xml': `${HEAD}<w:document ${W} xmlns:r="${RELATION}"><w:body>${body}<w:sectPr>${reference}<w:pgSz w:w="11906" w:h="16838"/></w:sectPr></w:body></w:document>`,
    ...(footer && {
      'word/_rels/document.xml.rels': relationships([['footer', 'footer1.xml']]),
      'word/footer1.xml': `${HEAD}<w:ftr ${W}>${wordParagraph(footer)}</w:ftr>`,
    }),
  })
}

/** A workbook: sheet names with rows of cells; text goes through the shared strings, as Excel writes it. */
export function xlsx(sheets: Record<string, Array<Array<string | number>>>): Promise<Uint8Array> {
  const S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
  const shared: string[] = []
  const names = Object.keys(sheets)
  const index = (text: string): number => {
    const at = shared.indexOf(text)
    return at >= 0 ? at : shared.push(text) - 1
  }
  const pages = Object.values(sheets).map((rows) =>
    rows
      .map((row, r) => {
        const cells = row.map((value, c) => {
          const place = `${String.fromCharCode(65 + c)}${r + 1}`
          return typeof value === 'number'
            ? `<c r="${place}"><v>${value}</v></c>`
            : `<c r="${place}" t="s"><v>${index(value)}</v></c>`
        })
        return `<row r="${r + 1}">${cells.join('')}</row>`
      })
      .join(''),
  )
  return zip({
    '[Content_Types].xml': contentTypes({
      'xl/workbook.xml': 'spreadsheetml.sheet.main',
      'xl/sharedStrings.xml': 'spreadsheetml.sharedStrings',
      ...Object.fromEntries(
        pages.map((_, i) => [`xl/worksheets/sheet${i + 1}.xml`, 'spreadsheetml.worksheet']),
      ),
    }),
    '_rels/.rels': relationships([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `${HEAD}<workbook ${S} xmlns:r="${RELATION}"><sheets>${names
      .map((name, i) => `<sheet name="${xml(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships([
      ...pages.map((_, i): [string, string] => ['worksheet', `worksheets/sheet${i + 1}.xml`]),
      ['sharedStrings', 'sharedStrings.xml'],
    ]),
    ...Object.fromEntries(
      pages.map((rows, i) => [
        `xl/worksheets/sheet${i + 1}.xml`,
        `${HEAD}<worksheet ${S}><sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
    'xl/sharedStrings.xml': `${HEAD}<sst ${S} count="${shared.length}" uniqueCount="${shared.length}">${shared
      .map((text) => `<si><t xml:space="preserve">${xml(text)}</t></si>`)
      .join('')}</sst>`,
  })
}

export interface Slide {
  title: string
  lines: string[]
  /** What the speaker says. */
  notes?: string
}

/** A presentation. */
export function pptx(slides: Slide[]): Promise<Uint8Array> {
  const P = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${RELATION}"`
  const shape = (id: number, kind: string, lines: string[]): string =>
    `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="${kind} ${id}"/><p:cNvSpPr/><p:nvPr><p:ph type="${kind}"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>${lines
      .map((line) => `<a:p><a:r><a:t>${xml(line)}</a:t></a:r></a:p>`)
      .join('')}</p:txBody></p:sp>`
  const tree = (shapes: string): string =>
    `<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${shapes}</p:spTree></p:cSld>`
  const members: Members = {
    '[Content_Types].xml': contentTypes({
      'ppt/presentation.xml': 'presentationml.presentation.main',
      'ppt/slideMasters/slideMaster1.xml': 'presentationml.slideMaster',
      'ppt/slideLayouts/slideLayout1.xml': 'presentationml.slideLayout',
      'ppt/theme/theme1.xml': 'theme',
      ...Object.fromEntries(
        slides.flatMap((slide, i) => [
          [`ppt/slides/slide${i + 1}.xml`, 'presentationml.slide'],
          ...(slide.notes
            ? [[`ppt/notesSlides/notesSlide${i + 1}.xml`, 'presentationml.notesSlide']]
            : []),
        ]),
      ),
    }),
    '_rels/.rels': relationships([['officeDocument', 'ppt/presentation.xml']]),
    'ppt/presentation.xml': `${HEAD}<p:presentation ${P}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId${slides.length + 1}"/></p:sldMasterIdLst><p:sldIdLst>${slides
      .map((_, i) => `<p:sldId id="${256 + i}" r:id="rId${i + 1}"/>`)
      .join(
        '',
      )}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationships([
      ...slides.map((_, i): [string, string] => ['slide', `slides/slide${i + 1}.xml`]),
      ['slideMaster', 'slideMasters/slideMaster1.xml'],
    ]),
    // As PowerPoint writes them: the prompts of master and layout are no text of the slides.
    'ppt/slideMasters/slideMaster1.xml': `${HEAD}<p:sldMaster ${P}>${tree(shape(2, 'title', ['Click to edit Master title style']))}<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`,
    'ppt/slideMasters/_rels/slideMaster1.xml.rels': relationships([
      ['slideLayout', '../slideLayouts/slideLayout1.xml'],
      ['theme', '../theme/theme1.xml'],
    ]),
    'ppt/slideLayouts/slideLayout1.xml': `${HEAD}<p:sldLayout ${P}>${tree(shape(2, 'title', ['Click to edit Master title style']))}</p:sldLayout>`,
    'ppt/slideLayouts/_rels/slideLayout1.xml.rels': relationships([
      ['slideMaster', '../slideMasters/slideMaster1.xml'],
    ]),
    'ppt/theme/theme1.xml': theme(),
  }
  slides.forEach((slide, i) => {
    const n = i + 1
    members[`ppt/slides/_rels/slide${n}.xml.rels`] = relationships([
      ['slideLayout', '../slideLayouts/slideLayout1.xml'],
      ...(slide.notes === undefined
        ? []
        : [['notesSlide', `../notesSlides/notesSlide${n}.xml`] satisfies [string, string]]),
    ])
    members[`ppt/slides/slide${n}.xml`] =
      `${HEAD}<p:sld ${P}>${tree(shape(2, 'title', [slide.title]) + shape(3, 'body', slide.lines))}</p:sld>`
    if (slide.notes === undefined) return
    members[`ppt/notesSlides/notesSlide${n}.xml`] =
      `${HEAD}<p:notes ${P}>${tree(shape(2, 'body', [slide.notes]))}</p:notes>`
    members[`ppt/notesSlides/_rels/notesSlide${n}.xml.rels`] = relationships([
      ['slide', `../slides/slide${n}.xml`],
    ])
  })
  return zip(members)
}

/** The least theme that PowerPoint and LibreOffice open: twelve colours, two fonts, three of each format. */
function theme(): string {
  const colours = ['dk1', 'lt1', 'dk2', 'lt2', 'accent1', 'accent2', 'accent3', 'accent4']
    .concat('accent5', 'accent6', 'hlink', 'folHlink')
    .map((name, i) => `<a:${name}><a:srgbClr val="${i % 2 ? 'FFFFFF' : '1F2A36'}"/></a:${name}>`)
  const font = '<a:latin typeface="Liberation Sans"/><a:ea typeface=""/><a:cs typeface=""/>'
  const fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
  const three = (one: string): string => one.repeat(3)
  return `${HEAD}<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="Plain"><a:themeElements><a:clrScheme name="Plain">${colours.join('')}</a:clrScheme><a:fontScheme name="Plain"><a:majorFont>${font}</a:majorFont><a:minorFont>${font}</a:minorFont></a:fontScheme><a:fmtScheme name="Plain"><a:fillStyleLst>${three(fill)}</a:fillStyleLst><a:lnStyleLst>${three(`<a:ln>${fill}</a:ln>`)}</a:lnStyleLst><a:effectStyleLst>${three('<a:effectStyle><a:effectLst/></a:effectStyle>')}</a:effectStyleLst><a:bgFillStyleLst>${three(fill)}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`
}
