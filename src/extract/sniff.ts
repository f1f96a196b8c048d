/**
 * Media type by the bytes, then by the declared type, the name last.
 *
 * Not responsible for: whether the document can be read.
 */

/**
 * @param bytes the whole document (a zip's directory stands at its end)
 * @param declaredType as the mail says; breaks ties only
 * @param name file name; breaks ties only
 * @returns a media type; `application/octet-stream` when nothing fits
 */
export function sniff(bytes: Uint8Array, _declaredType = '', _name = ''): string {
  if (bytes.length === 0) return 'application/x-empty'
  return 'application/octet-stream'
}
