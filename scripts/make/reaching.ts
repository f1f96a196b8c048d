/**
 * Documents and mails that ask for something from outside: remote pictures, templates, DTDs, entities, linked
 * data, forms, fonts. Whoever follows one of them tells a stranger that, when and where the mail was read.
 */
import { eml } from './mail.js'
import { contentTypes, relationships, xml, zip, type Members } from './office.js'
import { document, lines } from './pdf-objects.js'

const RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** A relationships part whose targets lie outside the package. */
function external(targets: Array<[type: string, target: string]>): string {
  const rows = targets.map(
    ([type, target], i) =>
      `<Relationship Id="x${i}" Type="${RELATION}/${type}" Target="${xml(target)}" TargetMode="External"/>`,
  )
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${rows.join('')}</Relationships>`
}

const root = (part: string): string => relationships([['officeDocument', part]])

/** A DTD and entities that lie elsewhere. */
const outsideDtd = (name: string, url: string): string =>
  `<!DOCTYPE ${name} SYSTEM "${url}/${name}.dtd" [<!ENTITY % remote SYSTEM "${url}/parameter.dtd">%remote;<!ENTITY out SYSTEM "${url}/entity.txt"><!ENTITY file SYSTEM "file:///etc/hostname">]>`

const page = (url: string, words: string): string => `<!DOCTYPE html SYSTEM "${url}/page.dtd">
<html manifest="${url}/m"><head><base href="${url}/"><link rel="stylesheet" href="${url}/a.css"><link rel="dns-prefetch" href="${url}">
<style>@import url("${url}/b.css"); @font-face { font-family: f; src: url(${url}/f.woff) } body { background: url(${url}/bg.png) }</style>
<script src="${url}/a.js"></script><script>fetch("${url}/fetch"); new Image().src = "${url}/image"</script>
<meta http-equiv="refresh" content="0;url=${url}/refresh"></head>
<body background="${url}/body.png" onload="fetch('${url}/load')">${words}<img src="${url}/pixel.gif" srcset="${url}/2x.gif 2x">
<iframe src="${url}/frame"></iframe><object data="${url}/object"></object><embed src="${url}/embed"><video poster="${url}/poster" src="${url}/video"></video>
<a href="${url}/a" ping="${url}/ping">link</a><form action="${url}/form"><input type="image" src="${url}/submit.png"></form></body></html>`

function word(url: string): Promise<Uint8Array> {
  const w = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
  return zip({
    '[Content_Types].xml': contentTypes({
      'word/document.xml': 'wordprocessingml.document.main',
      'word/settings.xml': 'wordprocessingml.settings',
    }),
    '_rels/.rels': root('word/document.xml'),
    'word/_rels/document.xml.rels': external([
      ['image', `${url}/picture.png`],
      ['hyperlink', `${url}/link`],
      ['aFChunk', `${url}/chunk.docx`],
      ['subDocument', `${url}/sub.docx`],
      ['oleObject', `${url}/ole.xlsx`],
      ['frame', `${url}/frame.html`],
    ]),
    'word/settings.xml': `<w:settings xmlns:w="${w}" xmlns:r="${RELATION}"><w:attachedTemplate r:id="x0"/></w:settings>`,
    'word/_rels/settings.xml.rels': external([
      ['attachedTemplate', `${url}/template.dotm`],
      ['mailMergeSource', `${url}/merge.csv`],
    ]),
    'word/document.xml': `${outsideDtd('document', url)}<w:document xmlns:w="${w}" xmlns:r="${RELATION}"><w:body><w:p><w:r><w:t>words of a letter &out; &file;</w:t></w:r></w:p>
<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>INCLUDEPICTURE "${url}/field.png"</w:instrText><w:fldChar w:fldCharType="separate"/><w:t>shown</w:t><w:fldChar w:fldCharType="end"/></w:r></w:p>
<w:altChunk r:id="x2"/><w:subDoc r:id="x3"/></w:body></w:document>`,
  })
}

function workbook(url: string): Promise<Uint8Array> {
  const s = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  return zip({
    '[Content_Types].xml': contentTypes({
      'xl/workbook.xml': 'spreadsheetml.sheet.main',
      'xl/worksheets/sheet1.xml': 'spreadsheetml.worksheet',
      'xl/externalLinks/externalLink1.xml': 'spreadsheetml.externalLink',
    }),
    '_rels/.rels': root('xl/workbook.xml'),
    'xl/workbook.xml': `<workbook xmlns="${s}" xmlns:r="${RELATION}"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets><externalReferences><externalReference r:id="rId2"/></externalReferences></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships([
      ['worksheet', 'worksheets/sheet1.xml'],
      ['externalLink', 'externalLinks/externalLink1.xml'],
    ]),
    'xl/externalLinks/externalLink1.xml': `<externalLink xmlns="${s}" xmlns:r="${RELATION}"><externalBook r:id="x0"/></externalLink>`,
    'xl/externalLinks/_rels/externalLink1.xml.rels': external([
      ['externalLinkPath', `${url}/other.xlsx`],
    ]),
    'xl/connections.xml': `<connections xmlns="${s}"><connection id="1" type="4" refreshOnLoad="1"><webPr url="${url}/web"/></connection></connections>`,
    'xl/worksheets/sheet1.xml': `${outsideDtd('worksheet', url)}<worksheet xmlns="${s}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>cell &out;</t></is></c><c r="B1"><f>WEBSERVICE("${url}/cell")</f><v>1</v></c></row></sheetData></worksheet>`,
  })
}

function slides(url: string): Promise<Uint8Array> {
  const p = 'http://schemas.openxmlformats.org/presentationml/2006/main'
  const a = 'http://schemas.openxmlformats.org/drawingml/2006/main'
  return zip({
    '[Content_Types].xml': contentTypes({
      'ppt/presentation.xml': 'presentationml.presentation.main',
      'ppt/slides/slide1.xml': 'presentationml.slide',
    }),
    '_rels/.rels': root('ppt/presentation.xml'),
    'ppt/presentation.xml': `<p:presentation xmlns:p="${p}" xmlns:r="${RELATION}"><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationships([['slide', 'slides/slide1.xml']]),
    'ppt/slides/slide1.xml': `<p:sld xmlns:p="${p}" xmlns:a="${a}" xmlns:r="${RELATION}"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:rPr><a:hlinkClick r:id="x0"/></a:rPr><a:t>words of a slide</a:t></a:r></a:p></p:txBody></p:sp><p:pic><p:blipFill><a:blip r:link="x1"/></p:blipFill></p:pic></p:spTree></p:cSld></p:sld>`,
    'ppt/slides/_rels/slide1.xml.rels': external([
      ['hyperlink', `${url}/click`],
      ['image', `${url}/slide.png`],
      ['video', `${url}/film.mp4`],
    ]),
  })
}

function openDocument(url: string): Promise<Uint8Array> {
  const members: Members = {
    mimetype: 'application/vnd.oasis.opendocument.text',
    'META-INF/manifest.xml':
      '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
    'content.xml': `${outsideDtd('office:document-content', url).replaceAll('office:document-content.dtd', 'content.dtd')}<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"><office:body><office:text><text:p>words of a paper<draw:frame><draw:image xlink:href="${url}/picture.png" xlink:actuate="onLoad"/></draw:frame><draw:object xlink:href="${url}/object"/></text:p><text:section><text:section-source xlink:href="${url}/section.odt"/></text:section></office:text></office:body></office:document-content>`,
  }
  return zip(members)
}

function book(url: string): Promise<Uint8Array> {
  return zip({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    'book.opf': `<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="${url}/chapter.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
    'a.xhtml': page(url, 'words of a book'),
  })
}

/** Actions, forms, file specifications, streams that lie outside the file. */
function pdfDocument(url: string): Uint8Array {
  return document((objects) => {
    const file = objects.add(`<< /Type /Filespec /FS /URL /F (${url}/file) >>`)
    const picture = objects.add(
      `<< /Type /XObject /Subtype /Image /Width 600 /Height 600 /BitsPerComponent 8 /ColorSpace /DeviceGray /F ${file} 0 R >>`,
      'x',
    )
    const font = objects.add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')
    const form = objects.add(
      '<< >>',
      `<?xml version="1.0"?>${outsideDtd('xdp', url)}<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform><field><ui/><value><image href="${url}/xfa.png"/></value></field><event activity="initialize"><submit target="${url}/xfa-submit"/></event></subform></template><connectionSet xmlns="http://www.xfa.org/schema/xfa-connection-set/2.8/"><wsdlConnection><wsdlAddress>${url}/wsdl</wsdlAddress></wsdlConnection></connectionSet></xdp:xdp>`,
    )
    const actions = [
      `<< /S /URI /URI (${url}/uri) >>`,
      `<< /S /GoToR /F ${file} 0 R /D [0 /Fit] >>`,
      `<< /S /Launch /F ${file} 0 R >>`,
      `<< /S /SubmitForm /F ${file} 0 R >>`,
      `<< /S /ImportData /F ${file} 0 R >>`,
      `<< /S /JavaScript /JS (app.launchURL\\("${url}/script"\\)) >>`,
    ]
    const annotations = actions.map((action, i) =>
      objects.add(
        `<< /Type /Annot /Subtype /Link /Rect [0 ${i * 10} 90 ${i * 10 + 9}] /A ${action} /AA << /PO ${action} >> >>`,
      ),
    )
    return {
      pages: [
        {
          content: `${lines(['words of a page'])} q 500 0 0 500 40 40 cm /P Do Q`,
          fonts: { F1: font },
          images: { P: picture },
          annotations,
        },
      ],
      catalog: `/OpenAction << /S /URI /URI (${url}/open) >> /URI << /Base (${url}/) >> /AcroForm << /XFA ${form} 0 R /Fields [] >> /NeedsRendering true`,
    }
  })
}

const rtf = (url: string): string =>
  `{\\rtf1{\\*\\template ${url}/template.dot}{\\field{\\*\\fldinst INCLUDEPICTURE "${url}/field.png" \\\\d}{\\fldrslt words of a note}}{\\field{\\*\\fldinst INCLUDETEXT "${url}/text.docx"}{\\fldrslt }}{\\object\\objautlink\\objupdate{\\*\\objclass htmlfile}{\\*\\objdata 0105000002000000}}}`

const svg = (url: string): string =>
  `<?xml version="1.0"?><?xml-stylesheet href="${url}/a.xsl" type="text/xsl"?>${outsideDtd('svg', url)}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="800" height="800"><style>@import url(${url}/s.css);</style><image xlink:href="${url}/i.png" width="700" height="700"/><use xlink:href="${url}/u.svg#a"/><script xlink:href="${url}/s.js"/><text y="90" font-size="60">words of a drawing &out;&file;</text></svg>`

/** @param url without a slash at its end: `http://127.0.0.1:1` */
export async function reachingDocuments(url: string): Promise<Record<string, Uint8Array>> {
  const text = (words: string): Uint8Array => Buffer.from(words)
  const feed = `<?xml version="1.0"?>${outsideDtd('rss', url)}<rss xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="${url}/include.xml"/><channel><title>words of a feed &out;</title></channel></rss>`
  const documents: Record<string, Uint8Array> = {
    'letter.docx': await word(url),
    'book.xlsx': await workbook(url),
    'slides.pptx': await slides(url),
    'paper.odt': await openDocument(url),
    'book.epub': await book(url),
    'page.pdf': pdfDocument(url),
    'note.rtf': text(rtf(url)),
    'page.html': text(page(url, 'words of a page')),
    'page.xhtml': text(`<?xml version="1.0"?>${page(url, 'words of a page')}`),
    'drawing.svg': text(svg(url)),
    'feed.xml': text(feed),
    'flat.xml': text(
      `<?xml version="1.0"?><?mso-application progid="Word.Document"?>${outsideDtd('w', url)}<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"><w:body><w:p><w:r><w:t>words &out;</w:t></w:r></w:p></w:body></w:wordDocument>`,
    ),
    'meeting.ics': text(
      `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:words of a meeting\r\nATTACH:${url}/agenda\r\nIMAGE;VALUE=URI:${url}/image\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`,
    ),
    'card.vcf': text(
      `BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Words Card\r\nPHOTO;VALUE=uri:${url}/photo\r\nSOURCE:${url}/source\r\nEND:VCARD\r\n`,
    ),
    'shortcut.url': text(`[InternetShortcut]\r\nURL=${url}/shortcut\r\nIconFile=${url}/icon\r\n`),
  }
  documents['all.zip'] = await zip(documents)
  documents['mail.eml'] = reachingMail(url, {
    'drawing.svg': documents['drawing.svg'] as Uint8Array,
  })
  return documents
}

/** A mail whose body asks for pictures, with documents that ask for more. */
export function reachingMail(url: string, documents: Record<string, Uint8Array>): Uint8Array {
  return eml({
    from: 'Ann Lee <ann@example.org>',
    to: 'Bo Ek <bo@example.org>',
    subject: 'words that reach out',
    date: '2026-03-01T10:00:00+01:00',
    id: 'reaching@example.org',
    html: page(url, 'words of a body'),
    headers: [
      `Content-Location: ${url}/location`,
      `List-Unsubscribe: <${url}/unsubscribe>`,
      `X-Image-URL: ${url}/face.png`,
      'Disposition-Notification-To: Ann Lee <ann@example.org>',
    ],
    attachments: [
      ...Object.entries(documents).map(([name, bytes]) => ({
        name,
        type: 'application/octet-stream',
        bytes,
      })),
      {
        name: 'elsewhere.txt',
        type: `message/external-body; access-type=URL; URL="${url}/external"`,
        bytes: Buffer.from('Content-Type: text/plain\r\n\r\n'),
      },
    ],
  })
}
