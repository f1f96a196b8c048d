/** Which kind of document a compound file is. */
import { OleFile } from '../ole/read.js'
import { looseStream } from './doc-header.js'

/** Streams and storages whose presence names the document. The first that is there decides. */
const BY_STREAM: ReadonlyArray<readonly [name: string, type: string]> = [
  ['EncryptedPackage', 'application/x-ooxml-encrypted'],
  ['WordDocument', 'application/msword'],
  ['Workbook', 'application/vnd.ms-excel'],
  ['Book', 'application/vnd.ms-excel'],
  ['PowerPoint Document', 'application/vnd.ms-powerpoint'],
  ['PP40', 'application/vnd.ms-powerpoint-4'],
  ['__properties_version1.0', 'application/vnd.ms-outlook'],
  ['__nameid_version1.0', 'application/vnd.ms-outlook'],
  ['VisioDocument', 'application/vnd.visio'],
  ['Quill', 'application/x-mspublisher'],
  ['HwpSummaryInformation', 'application/x-hwp'],
  ['\x05HwpSummaryInformation', 'application/x-hwp'],
  ['MatOST', 'application/vnd.ms-works'],
  ['StarWriterDocument', 'application/vnd.stardivision.writer'],
  ['StarCalcDocument', 'application/vnd.stardivision.calc'],
  ['StarDrawDocument3', 'application/vnd.stardivision.draw'],
  ['Props9', 'application/vnd.ms-project'],
  ['Props12', 'application/vnd.ms-project'],
  ['Props14', 'application/vnd.ms-project'],
  ['Catalog', 'application/x-thumbs-db'],
  ['SwDocMgrTempStorage', 'application/sldworks'],
]

/** @returns the media type of a compound file by what stands at its top; `application/x-ole-storage` for anything else */
export function oleType(bytes: Uint8Array): string {
  let ole: OleFile
  try {
    ole = new OleFile(bytes)
  } catch {
    return typeOfRest(bytes)
  }
  if (ole.clsid === '84100c0000000000c000000000000046') return 'application/x-msi'
  for (const [name, type] of BY_STREAM) if (ole.find(name)) return type
  return typeOfRest(bytes)
}

/** A file whose directory is lost may still hold a stream that tells what it was. */
function typeOfRest(bytes: Uint8Array): string {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return looseStream(file) ? 'application/msword' : 'application/x-ole-storage'
}
