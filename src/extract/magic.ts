/**
 * Media types told by bytes at fixed places.
 *
 * One list, most telling first. It names what Paperknife reads and what it does not, so that an
 * `unsupported` says "audio/mpeg" and not "some bytes". Containers that need a look inside (zip, OLE2)
 * are named here by their shell and told apart in sniff-zip.ts and sniff-ole.ts.
 */

type Bytes = string | readonly number[]

/** `[media type, bytes, offset (default 0), more bytes at more offsets…]` */
type Magic = readonly [
  type: string,
  bytes: Bytes,
  offset?: number,
  also?: Bytes,
  alsoOffset?: number,
]

const MAGIC: readonly Magic[] = [
  // documents
  ['application/pdf', '%PDF-'],
  ['application/x-ole-storage', [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]],
  ['application/zip', 'PK\x03\x04'],
  ['application/zip', 'PK\x05\x06'],
  ['application/zip', 'PK00PK\x03\x04'],
  ['application/zip', 'PK\x07\x08PK\x03\x04'],
  ['application/rtf', '{\\rt'],
  ['application/vnd.ms-tnef', [0x78, 0x9f, 0x3e, 0x22]],
  ['application/onenote', [0xe4, 0x52, 0x5c, 0x7b, 0x8c, 0xd8, 0xa7, 0x4d]],
  ['application/vnd.ms-outlook-pst', '!BDN'],
  ['application/postscript', '%!PS'],
  ['application/postscript', [0xc5, 0xd0, 0xd3, 0xc6]],
  ['application/vnd.wordperfect', [0xff, 0x57, 0x50, 0x43]],
  ['application/x-mswrite', [0x31, 0xbe, 0x00, 0x00]],
  ['application/x-mswrite', [0x32, 0xbe, 0x00, 0x00]],
  ['application/x-msword-mac', [0xfe, 0x37, 0x00, 0x1c]],
  ['application/msword', [0xfe, 0x37, 0x00, 0x23]],
  ['application/msword', [0xdb, 0xa5, 0x2d, 0x00]],
  ['application/msword', [0xdb, 0xa5, 0x2c, 0x00]],
  ['application/msword', [0x9b, 0xa5, 0x21, 0x00]],
  ['application/vnd.lotus-1-2-3', [0x00, 0x00, 0x02, 0x00, 0x06, 0x04]],
  ['application/vnd.lotus-1-2-3', [0x00, 0x00, 0x1a, 0x00, 0x00, 0x10]],
  ['application/x-hwp', 'HWP Document File'],
  ['application/vnd.ms-htmlhelp', 'ITSF'],
  ['application/winhlp', [0x3f, 0x5f, 0x03, 0x00]],
  ['application/x-mobipocket-ebook', 'BOOKMOBI', 60],
  ['image/vnd.djvu', 'AT&TFORM'],
  ['image/vnd.dwg', 'AC10'],
  ['application/x-indesign', [0x06, 0x06, 0xed, 0xf5, 0xd8, 0x1d, 0x46, 0xe5]],

  // spreadsheets without a shell: BIFF 5 and 8, 4, 3, 2
  ['application/vnd.ms-excel', [0x09, 0x08, 0x08, 0x00, 0x00]],
  ['application/vnd.ms-excel', [0x09, 0x08, 0x10, 0x00, 0x00]],
  ['application/vnd.ms-excel', [0x09, 0x04, 0x06, 0x00]],
  ['application/vnd.ms-excel', [0x09, 0x02, 0x06, 0x00]],
  ['application/vnd.ms-excel', [0x09, 0x00, 0x04, 0x00]],

  // pictures
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/tiff', [0x49, 0x49, 0x2a, 0x00]],
  ['image/tiff', [0x4d, 0x4d, 0x00, 0x2a]],
  ['image/tiff', [0x49, 0x49, 0x2b, 0x00]],
  ['image/tiff', [0x4d, 0x4d, 0x00, 0x2b]],
  ['image/webp', 'RIFF', 0, 'WEBP', 8],
  ['image/jp2', [0x00, 0x00, 0x00, 0x0c, 0x6a, 0x50, 0x20, 0x20]],
  ['image/jp2', [0xff, 0x4f, 0xff, 0x51]],
  ['image/jxl', [0xff, 0x0a]],
  ['image/jxl', [0x00, 0x00, 0x00, 0x0c, 0x4a, 0x58, 0x4c, 0x20]],
  ['image/vnd.adobe.photoshop', '8BPS'],
  ['image/x-icon', [0x00, 0x00, 0x01, 0x00]],
  ['image/x-icon', [0x00, 0x00, 0x02, 0x00]],
  ['image/wmf', [0xd7, 0xcd, 0xc6, 0x9a]],
  ['image/wmf', [0x01, 0x00, 0x09, 0x00, 0x00, 0x03]],
  ['image/emf', [0x01, 0x00, 0x00, 0x00], 0, ' EMF', 40],
  ['image/x-xcf', 'gimp xcf'],
  ['image/vnd.zbrush.pcx', [0x0a, 0x05, 0x01]],
  ['image/x-jng', [0x8b, 0x4a, 0x4e, 0x47]],

  // archives and compressed files
  ['application/gzip', [0x1f, 0x8b]],
  ['application/x-bzip2', 'BZh'],
  ['application/x-xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['application/x-7z-compressed', [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]],
  ['application/vnd.rar', 'Rar!\x1a\x07'],
  ['application/zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['application/x-lz4', [0x04, 0x22, 0x4d, 0x18]],
  ['application/x-lzip', 'LZIP'],
  ['application/x-compress', [0x1f, 0x9d]],
  ['application/vnd.ms-cab-compressed', 'MSCF'],
  ['application/x-stuffit', 'StuffIt '],
  ['application/x-stuffit', 'SIT!'],
  ['application/x-arj', [0x60, 0xea]],
  ['application/x-lzh-compressed', '-lh', 2],
  ['application/x-ace-compressed', '**ACE**', 7],
  ['application/vnd.debian.binary-package', '!<arch>\ndebian'],
  ['application/x-archive', '!<arch>\n'],
  ['application/x-rpm', [0xed, 0xab, 0xee, 0xdb]],
  ['application/x-cpio', '070701'],
  ['application/x-cpio', '070702'],
  ['application/x-cpio', '070707'],
  ['application/x-tar', 'ustar', 257],
  ['application/x-iso9660-image', 'CD001', 32769],
  ['application/applefile', [0x00, 0x05, 0x16, 0x00]],
  ['application/applefile', [0x00, 0x05, 0x16, 0x07]],

  // sound and moving pictures
  ['audio/mpeg', 'ID3'],
  ['audio/flac', 'fLaC'],
  ['audio/ogg', 'OggS', 0, 'vorbis', 29],
  ['audio/ogg', 'OggS', 0, 'OpusHead', 28],
  ['application/ogg', 'OggS'],
  ['audio/wav', 'RIFF', 0, 'WAVE', 8],
  ['video/x-msvideo', 'RIFF', 0, 'AVI ', 8],
  ['audio/midi', 'MThd'],
  ['audio/amr', '#!AMR'],
  ['audio/aiff', 'FORM', 0, 'AIF', 8],
  ['audio/basic', '.snd'],
  ['audio/x-caf', 'caff'],
  ['video/x-matroska', [0x1a, 0x45, 0xdf, 0xa3]],
  ['video/x-flv', 'FLV\x01'],
  ['video/mpeg', [0x00, 0x00, 0x01, 0xba]],
  ['video/mpeg', [0x00, 0x00, 0x01, 0xb3]],
  ['video/x-ms-asf', [0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11]],
  ['video/quicktime', 'moov', 4],
  ['video/quicktime', 'mdat', 4],
  ['application/x-shockwave-flash', 'FWS'],
  ['application/x-shockwave-flash', 'CWS'],
  ['audio/mpeg', [0xff, 0xfb]],
  ['audio/mpeg', [0xff, 0xf3]],
  ['audio/mpeg', [0xff, 0xf2]],
  ['audio/aac', [0xff, 0xf1]],
  ['audio/aac', [0xff, 0xf9]],

  // fonts
  ['font/otf', 'OTTO'],
  ['font/ttf', [0x00, 0x01, 0x00, 0x00, 0x00]],
  ['font/ttf', 'true\x00'],
  ['font/collection', 'ttcf'],
  ['font/woff', 'wOFF'],
  ['font/woff2', 'wOF2'],
  ['application/x-font-type1', [0x80, 0x01], 0, '%!', 6],

  // programs
  ['application/x-elf', [0x7f, 0x45, 0x4c, 0x46]],
  ['application/x-mach-binary', [0xcf, 0xfa, 0xed, 0xfe]],
  ['application/x-mach-binary', [0xce, 0xfa, 0xed, 0xfe]],
  ['application/java-vm', [0xca, 0xfe, 0xba, 0xbe]],
  ['application/wasm', [0x00, 0x61, 0x73, 0x6d]],
  ['application/x-ms-shortcut', [0x4c, 0x00, 0x00, 0x00, 0x01, 0x14, 0x02, 0x00]],
  ['application/java-serialized-object', [0xac, 0xed, 0x00, 0x05]],

  // databases and other stores
  ['application/vnd.sqlite3', 'SQLite format 3\x00'],
  ['application/x-msaccess', 'Standard Jet DB', 4],
  ['application/x-msaccess', 'Standard ACE DB', 4],
  ['application/vnd.apache.parquet', 'PAR1'],
  ['application/x-hdf5', [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['application/x-keepass2', [0x03, 0xd9, 0xa2, 0x9a]],
  ['application/vnd.tcpdump.pcap', [0xd4, 0xc3, 0xb2, 0xa1]],
  ['application/vnd.tcpdump.pcap', [0xa1, 0xb2, 0xc3, 0xd4]],
  ['application/vnd.iccprofile', 'acsp', 36],
  ['application/x-bplist', 'bplist00'],
  ['application/x-bittorrent', 'd8:announce'],
  ['application/x-numpy', [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]],
  ['application/dicom', 'DICM', 128],
  ['application/vnd.ms-opentype', 'LP', 34],
]

const COMPILED = MAGIC.map(([type, bytes, offset = 0, also, alsoOffset = 0]) => ({
  type,
  tests: [
    { at: offset, bytes: raw(bytes) },
    ...(also === undefined ? [] : [{ at: alsoOffset, bytes: raw(also) }]),
  ],
}))

function raw(bytes: Bytes): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes)
}

/** Brands of an ISO base media file (ISO/IEC 14496-12, `ftyp`). */
const BRANDS: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(heic|heix|heim|heis|hevc|hevx|mif1|msf1)/, 'image/heic'],
  [/^avi[fs]/, 'image/avif'],
  [/^(qt {2})/, 'video/quicktime'],
  [/^(M4A|M4B|F4A)/, 'audio/mp4'],
  [/^3g/, 'video/3gpp'],
  [/^crx /, 'image/x-canon-cr3'],
]

/**
 * @returns the media type whose magic number stands in `bytes`, or undefined. Types that need a second look
 *   (`application/zip`, `application/x-ole-storage`) are given as such.
 */
export function typeByMagic(bytes: Buffer): string | undefined {
  for (const { type, tests } of COMPILED)
    if (tests.every((test) => standsAt(bytes, test.bytes, test.at))) {
      if (type === 'application/java-vm' && bytes.length > 7 && bytes.readUInt32BE(4) < 40)
        return 'application/x-mach-binary' // a fat Mach-O counts its architectures where Java has a version
      return plausible(type, bytes) ? type : undefined
    }
  if (bytes.length > 12 && bytes.toString('latin1', 4, 8) === 'ftyp') {
    const brand = bytes.toString('latin1', 8, 12)
    return BRANDS.find(([pattern]) => pattern.test(brand))?.[1] ?? 'video/mp4'
  }
  if (bytes.length > 64 && bytes[0] === 0x4d && bytes[1] === 0x5a && isMsdosProgram(bytes))
    return 'application/vnd.microsoft.portable-executable'
  if (isBitmap(bytes)) return 'image/bmp'
  if (/^P[1-6][\s#]/.test(bytes.toString('latin1', 0, 3))) return portableMap(bytes)
  if (isTarHeader(bytes)) return 'application/x-tar'
  return derType(bytes)
}

function standsAt(bytes: Buffer, wanted: Buffer, at: number): boolean {
  return (
    bytes.length >= at + wanted.length &&
    bytes.compare(wanted, 0, wanted.length, at, at + wanted.length) === 0
  )
}

/** Short magic numbers are also the beginning of honest text; a second look tells. */
function plausible(type: string, bytes: Buffer): boolean {
  switch (type) {
    case 'application/x-bzip2':
      return bytes.length > 10 && bytes.readUIntBE(4, 6) === 0x314159265359
    case 'image/x-icon':
      return bytes.length > 22 && bytes.readUInt16LE(4) > 0 && bytes.readUInt16LE(4) < 256
    case 'application/x-arj':
      return bytes.length > 10 && bytes.readUInt16LE(2) <= 2600 && (bytes[4] as number) < 64
    case 'audio/mpeg':
    case 'application/x-shockwave-flash':
      return bytes.length > 8 && !looksLikeWords(bytes.subarray(3, 40))
    case 'application/vnd.ms-opentype':
      return bytes.length > 36 && bytes.readUInt32LE(0) === bytes.length // embedded OpenType
    case 'image/vnd.dwg':
      return /^AC10[0-9]{2}\0/.test(bytes.toString('latin1', 0, 7))
    default:
      return true
  }
}

function looksLikeWords(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte < 9 || (byte > 13 && byte < 32) || byte > 126) return false
  return true
}

function isMsdosProgram(bytes: Buffer): boolean {
  const at = bytes.readUInt32LE(60)
  return !looksLikeWords(bytes.subarray(0, 64)) || (at > 0 && at < bytes.length)
}

function isBitmap(bytes: Buffer): boolean {
  if (bytes.length < 26 || bytes.toString('latin1', 0, 2) !== 'BM') return false
  return [12, 16, 40, 52, 56, 64, 108, 124].includes(bytes.readUInt32LE(14))
}

function portableMap(bytes: Buffer): string | undefined {
  if (!/^P[1-6]\s+(#[^\n]*\n\s*)*\d+\s+(#[^\n]*\n\s*)*\d+\s/.test(bytes.toString('latin1', 0, 512)))
    return undefined
  const kind = (bytes[1] as number) - 0x30
  return `image/x-portable-${['bitmap', 'graymap', 'pixmap'][(kind - 1) % 3]}`
}

/** A tar header without `ustar` (UNIX V7): its checksum is right. */
function isTarHeader(bytes: Buffer): boolean {
  if (bytes.length < 512 || bytes[0] === 0) return false
  const stored = parseInt(bytes.toString('latin1', 148, 156).replace(/[\0 ].*$/s, ''), 8)
  if (!Number.isFinite(stored)) return false
  let sum = 8 * 0x20
  for (let i = 0; i < 512; i++) if (i < 148 || i >= 156) sum += bytes[i] as number
  return sum === stored
}

const SIGNED_DATA = Buffer.from([0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07])

/** Cryptographic Message Syntax (RFC 5652) and X.509, both SEQUENCEs in DER or BER. */
function derType(bytes: Buffer): string | undefined {
  if (bytes[0] !== 0x30 || bytes.length < 20) return undefined
  const second = bytes[1] as number
  const header = second & 0x80 ? 2 + (second & 0x7f) : 2
  if (header > 8) return undefined
  if (standsAt(bytes, SIGNED_DATA, header)) return 'application/pkcs7-mime'
  if (second === 0x82 && bytes[4] === 0x30 && bytes[5] === 0x82) return 'application/pkix-cert'
  if (bytes[header] === 0x02 && bytes[header + 1] === 0x01 && bytes[header + 2] === 0x03)
    return 'application/x-pkcs12'
  return undefined
}
