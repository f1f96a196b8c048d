/** Outlook messages, appointments, tasks and contacts, with attachments and messages inside. Read by mail/outlook/. */
import type { Item } from '../mail/outlook/properties.js'
import type { Context, Extractor, Facts } from './extractor.js'
import { factsOf, writeMessage } from './mail.js'
import type { TextSink } from './sink.js'

export const msg: Extractor = {
  name: 'msg',
  version: 2,
  title: 'Outlook messages, appointments and contacts (msg)',
  types: ['application/vnd.ms-outlook'],
  extensions: ['msg'],
  lane: 'text',
  async extract({ bytes }, sink, context) {
    const { readMsg } = await import('../mail/outlook/msg.js')
    return writeItem(readMsg(bytes, context.budget), sink, context)
  },
}

/** Writes what Outlook stored into the open page, then reads its attachments, one by one. */
export async function writeItem(item: Item, sink: TextSink, context: Context): Promise<Facts> {
  const { messageOf } = await import('../mail/outlook/message.js')
  const { message, rtf } = messageOf(item, context.budget.limits, context.budget)
  writeMessage(message, sink)
  if (rtf) await context.nested(rtf, 'body.rtf', 'application/rtf', { transparent: true })
  for (const { name, declaredType, bytes } of item.attachments)
    if (bytes) await context.nested(bytes, name || 'attachment', declaredType)
  return factsOf([...message.losses, ...item.losses])
}
