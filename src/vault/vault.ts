/**
 * What every kind of mail store on disk offers: folders, their entries, and the bytes of one.
 * open.ts gives a Vault for a path, read.ts the bytes for a reference.
 */
import type { MessageReference } from '../part/reference.js'

export const FOLDER_KINDS = ['maildir', 'eml', 'mbox', 'mh', 'emlx', 'file'] as const
export type FolderKind = (typeof FOLDER_KINDS)[number]

export interface VaultFolder {
  /** Vault-relative path of the directory or mbox file; `''` is the vault itself. */
  path: string
  /** As a person reads it and `in:` matches it: `INBOX`, `Archive/2014`. */
  name: string
  kind: FolderKind
  /** A value that changes when entries were added, removed or renamed (directory times, file size); compared as text. */
  fingerprint: string
  /** True when the folder changed so recently that its fingerprint cannot be trusted yet. */
  isFresh: boolean
}

export interface VaultEntry extends MessageReference {
  /** Name that survives flag changes and moves (Maildir unique name); the file name elsewhere. */
  unique: string
  /** FLAGS bits. */
  flags: number
  size: number
  mtimeMs: number
  /** Of the last change of any kind, which no program can set back; 0 where a message is only a part of its file. */
  ctimeMs: number
  inode: number
}

/** A folder or file that could not be read: what lies in it is unknown, not gone. */
export interface Unreadable {
  /** Vault-relative path; everything below it is unknown too. */
  path: string
  /** `EACCES: permission denied`: the system's code and what it means. */
  detail: string
}

export interface FolderList {
  /** Every directory and mbox file, parents first, those without mail too. */
  folders: VaultFolder[]
  unreadable: Unreadable[]
}

export interface EntryList {
  entries: VaultEntry[]
  /** Files that are listed and cannot be looked at. */
  unreadable: Unreadable[]
}

/** Is given one entry; a promise it returns holds the listing back. */
export type TakeEntry = (entry: VaultEntry) => Promise<void> | void

export interface Vault {
  /** Absolute path. */
  readonly root: string
  /** Device and inode of the root: another value means that something else is mounted there now. */
  readonly identity: string
  /**
   * Lists the folders.
   *
   * @param known folders of the last listing: a directory whose fingerprint is the same is not read
   *   again, its subfolders are taken from there
   * @throws {PipelineError} `E_VAULT_UNREADABLE` when the root is gone or cannot be listed
   */
  folders(known?: readonly VaultFolder[]): Promise<FolderList>
  /**
   * Lists the messages of a folder.
   *
   * @param known entries of the last listing of this folder: of an mbox file that only grew the tail
   *   alone is read, loose files that are the same are not opened to see what they are
   * @param take is given the entries of an mbox file one by one as they are found, in place of the list
   * @throws {PipelineError} `E_VAULT_UNREADABLE` when the folder cannot be listed now
   */
  entries(folder: VaultFolder, known?: readonly VaultEntry[], take?: TakeEntry): Promise<EntryList>
  /**
   * The entry of one file, for a delivery: costs the same in any vault.
   *
   * @param path absolute or vault-relative
   * @returns undefined when there is no message there (or an mbox file, which is a folder)
   */
  entryAt(path: string): Promise<{ folder: VaultFolder; entry: VaultEntry } | undefined>
}
