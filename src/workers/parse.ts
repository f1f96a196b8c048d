import type { MessageReference } from '../part/reference.js'
import type { Limits } from '../part/limits.js'
import type { Document } from '../extract/read.js'
import type { ParsedMessage } from './parsed.js'
export async function parseMessageAt(
  _vault: string,
  _r: MessageReference,
  _l: Limits,
): Promise<ParsedMessage> {
  throw new Error('not built')
}
export async function partsOf(
  _vault: string,
  _r: MessageReference,
  _h: Set<string>,
  _l: Limits,
): Promise<Map<string, Document>> {
  throw new Error('not built')
}
