/**
 * Office documents under a password: the package inside, when one of the settings' passwords opens it.
 *
 * Format: [MS-OFFCRYPTO]; the shell is a compound file.
 */
import { Declined, type Context, type Extractor, type Source } from './extractor.js'
import { OleFile } from '../ole/read.js'
import { DEFAULT_PASSWORD } from './office-rc4.js'

export const officeEncrypted: Extractor = {
  name: 'office-encrypted',
  version: 1,
  title: 'Office documents under a password (read when the password is known)',
  types: ['application/x-ooxml-encrypted'],
  extensions: [],
  lane: 'text',
  async extract(source: Source, _sink, context: Context) {
    const { unlocker } = await import('./office/decrypt.js')
    const file = new OleFile(source.bytes)
    const info = file.readPath('EncryptionInfo')
    const encrypted = file.readPath('EncryptedPackage')
    const unlock = info && encrypted && unlocker(info, encrypted, () => context.budget.checkTime())
    if (!unlock) throw new Declined('locked', 'encrypted in a way that is not read')
    for (const password of [DEFAULT_PASSWORD, ...context.settings.passwords]) {
      const bytes = unlock(password)
      if (bytes) return context.nested(bytes, source.name, '', { transparent: true })
    }
    throw new Declined('locked', 'password needed')
  },
}
