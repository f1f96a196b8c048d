/** The words of Rich Text Format 1.9.1 by what they mean for the text. */

/** Groups whose text is no part of the document's and that no `\\*` marks, or not always. */
export const SKIPPED = new Set(
  `aftnsep aftnsepc atnauthor atnid atnref atrfend atrfstart atndate atnicn bkmkend bkmkstart colortbl datafield
  docvar ebcend ebcstart filetbl formfield ftncn ftnsep ftnsepc aftncn generator latentstyles listname
  listoverridetable listtable nonshppict objalias objclass objname objsect objtime
  oleclsid panose picprop pntxta pntxtb private propname revtbl rsidtbl rxe shprslt
  staticval stylesheet tc tcn template themedata txe userprops xe xmlnstbl
  maccPr margPr mbarPr mborderBoxPr mboxPr mctrlPr mdPr meqArrPr mfPr mfuncPr mgroupChrPr mlimLowPr mlimUppPr
  mmPr mmathPr mnaryPr moMathParaPr mphantPr mradPr msPrePr msSubPr msSubSupPr msSupPr`.split(
    /\s+/,
  ),
)
/** Those that hold no paragraphs. */
export const TABLES = new Set(['stylesheet', 'colortbl', 'listtable'])
/** Groups marked as ignorable (`\*`) that hold text all the same. */
export const KNOWN_STARRED = new Set(
  `shpinst shptxt ud annotation footnote fldinst do dptxbxtext moMath moMathPara mmath objdata fldrslt result
  shppict cs ds s ts footerl header footer headerl headerr headerf footerr footerf`.split(/\s+/),
)
/** Groups whose text stands apart from the paragraph around it. */
export const ASIDE = new Set(['footnote', 'annotation', 'shptxt', 'dptxbxtext'])
/** Groups of headers and footers, each of which is read once. */
export const HEADERS = new Set(
  'header headerl headerr headerf footer footerl footerr footerf'.split(' '),
)
/** Parts of `\info` that are read. */
export const PROPERTIES = new Set(['title', 'subject', 'author', 'keywords', 'doccomm', 'category'])

/** Words that stand for a character. */
export const CHARACTERS = new Map(
  Object.entries({
    tab: '\t',
    cell: '\t',
    nestcell: '\t',
    emdash: '—',
    endash: '–',
    bullet: '•',
    lquote: '‘',
    rquote: '’',
    ldblquote: '“',
    rdblquote: '”',
    emspace: ' ',
    enspace: ' ',
    qmspace: ' ',
    zwj: '\u200d',
    zwnj: '\u200c',
  }),
)
/** Words that end a line. */
export const LINES = new Set([
  'par',
  'line',
  'row',
  'nestrow',
  'sect',
  'page',
  'column',
  'softline',
  'lbr',
])

/** Words that begin a destination of their own, marked or not. */
export const DESTINATIONS = new Set([
  ...ASIDE,
  ...HEADERS,
  ...PROPERTIES,
  ...['fonttbl', 'fldinst', 'objdata', 'pict', 'info', 'ffl', 'sn', 'sv', 'upr', 'ud'],
])

/** Destinations that are read inside of groups that are not. */
export const INSIDE_SKIPPED = new Set(['ud', 'ffl', 'sn', 'sv'])
/** Properties of shapes that are text ([MS-ODRAW] 2.3.22.2 and 2.3.4.44): the words of WordArt, the alternative text. */
export const SHAPE_TEXTS = new Map([
  ['gtextUNICODE', 'aside'],
  ['wzDescription', 'alternative'],
])
