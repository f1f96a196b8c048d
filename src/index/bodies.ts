/**
 * The kept bodies, as they lie in `body`. A row of 1 to 3 kB leaves a tenth of its page empty, for the next one seldom
 * fits: a body of one block is therefore spread over rows of 512 bytes. Longer ones are one row a block.
 *
 * Responsible for the rows and for whose dictionary a block needs. Not responsible for packing (fold/texts.ts).
 */
import Database, { type Statement } from 'better-sqlite3'
import { dictionaryOf, unpackBody } from '../fold/texts.js'
import type { Connection } from './files.js'
import { BODY_BLOCKS } from './schema.js'

/** Bytes of a row of a body of one block. Of 400 and 768 the table is as large within half a percent. */
const PIECE_BYTES = 512
/** Rows from this number on go on with block 0. */
const PIECES_FROM = 8_128
/** A larger block stays whole: it fills pages of its own. */
const PIECED_BYTES = (BODY_BLOCKS - PIECES_FROM) * PIECE_BYTES

/** Reads bodies over any connection. */
export class BodyReader {
  readonly #db: Connection
  readonly #block: Statement<[number], Buffer>
  readonly #pieces: Statement<[number, number], Buffer>
  readonly #words = new Map<number, Buffer>()

  constructor(db: Connection) {
    this.#db = db
    this.#block = db.prepare<[number], Buffer>('SELECT text FROM body WHERE id = ?').pluck()
    this.#pieces = db
      .prepare<[number, number], Buffer>(
        'SELECT text FROM body WHERE id BETWEEN ? AND ? ORDER BY id',
      )
      .pluck()
  }

  /**
   * The blocks of a body, one by one.
   * @throws {SqliteError} SQLITE_CORRUPT when the dictionary of one is not there
   */
  *blocks(message: number): Iterable<string> {
    for (let block = 0; block < PIECES_FROM; block++) {
      const packed = this.packed(message, block)
      if (packed === undefined) return
      const number = dictionaryOf(packed)
      yield unpackBody(packed, number === 0 ? undefined : this.#wordsOf(number))
    }
  }

  /** One block as it was packed. */
  packed(message: number, block: number): Buffer | undefined {
    const first = this.#block.get(message * BODY_BLOCKS + block)
    if (block > 0 || first?.length !== PIECE_BYTES) return first
    const rest = this.#pieces.all(
      message * BODY_BLOCKS + PIECES_FROM,
      (message + 1) * BODY_BLOCKS - 1,
    )
    return Buffer.concat([first, ...rest])
  }

  #wordsOf(number: number): Buffer {
    let words = this.#words.get(number)
    if (words === undefined) {
      words = this.#db
        .prepare<[number], Buffer>('SELECT words FROM dictionary WHERE number = ?')
        .pluck()
        .get(number)
      if (words === undefined)
        throw new Database.SqliteError(`dictionary ${number} is missing`, 'SQLITE_CORRUPT')
      this.#words.set(number, words)
    }
    return words
  }
}

/** Writes and removes bodies. */
export class BodyWriter {
  readonly #insert
  readonly #remove

  constructor(db: Connection) {
    this.#insert = db.prepare('INSERT INTO body VALUES (?, ?)')
    this.#remove = db.prepare('DELETE FROM body WHERE id BETWEEN ? AND ?')
  }

  /** The message must have none. @param blocks packed by `packBody` */
  insert(message: number, blocks: readonly Uint8Array[]): void {
    const id = message * BODY_BLOCKS
    const [first] = blocks
    if (first === undefined || blocks.length > 1 || first.length > PIECED_BYTES) {
      blocks.forEach((block, number) => this.#insert.run(id + number, block))
      return
    }
    this.#insert.run(id, first.subarray(0, PIECE_BYTES))
    for (let at = PIECE_BYTES, piece = id + PIECES_FROM; at < first.length; at += PIECE_BYTES)
      this.#insert.run(piece++, first.subarray(at, at + PIECE_BYTES))
  }

  remove(message: number): void {
    this.#remove.run(message * BODY_BLOCKS, (message + 1) * BODY_BLOCKS - 1)
  }
}
