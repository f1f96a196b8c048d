/**
 * Both databases, as SQL. index.db (a minute to rebuild) holds what a search reads; extracts.db (hours
 * of OCR) holds the state and the text of each content. They are separate files with separate
 * connections, so that a damaged index never costs the extracts.
 *
 * Not responsible for: opening files (files.ts), writing rows (messages.ts, contents.ts).
 *
 * better-sqlite3 binds every JS number as REAL. A column's affinity mends that on storing and comparing,
 * but FTS5 ignores a rowid limit that is REAL: write `rowid <= CAST(? AS INTEGER)` or bind a BigInt.
 */
import { COLUMNS } from '../fold/columns.js'
import { CONTENT_STATES, LANES } from '../part/states.js'

/**
 * Stored as `user_version` in each file. A higher one was written by a newer Paperknife; a lower one is brought
 * up by migrations.ts, which says what raising a version asks for.
 */
export const INDEX_VERSION = 4
export const EXTRACTS_VERSION = 1

/** Stored as `application_id`, so that only our own files are ever set aside: "PKni" and "PKne". */
export const INDEX_APPLICATION = 0x504b6e69
export const EXTRACTS_APPLICATION = 0x504b6e65

const list = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

/** Words that blocks of body were packed with (dictionary.ts). A number is never given twice. */
export const DICTIONARY_TABLE =
  'CREATE TABLE dictionary (number INTEGER PRIMARY KEY AUTOINCREMENT, words BLOB NOT NULL);'

/**
 * index.db.
 *
 * message.id is the date in seconds, moved up to the next free second; `meta.shift` is the largest move,
 * so that a date filter reads `id BETWEEN from AND to + shift` and then tests `date`. The id is a cursor:
 * a deleted message's id may be given to another.
 *
 * words has one row a message, folded by fold/, all seven columns written at once. A rewrite is DELETE
 * and INSERT.
 *
 * Message-IDs, unique names and, through these, paths are looked up by 31-bit keys (lookup.ts): three indexes over
 * the texts themselves were 130 bytes a message, a twentieth of the whole.
 *
 * term.messages is exact after the idle recount (idle.ts). Before that it may be too high, for a rewrite or a
 * deletion does not know the words that leave, or too low while the writer gathers counts (vocabulary.ts): it
 * orders words and nothing else. mask has bit 1 << i for column i of COLUMNS; it may keep a bit too long, never
 * lack one. newest, or \`meta.unwritten\` when that is higher, lets a search leave out the terms that its page
 * cannot hold. Words in scripts that are matched as pairs of characters, and marks
 * (fold/marks.ts), are in `words` alone. term_gram holds ' word ' with a space at each end, so
 * that beginnings and ends are trigrams too (it is deleted from with its text, so that it
 * needs no table of sizes); detail=none cannot verify: test `instr(term.text, ?)`.
 */
export const INDEX_SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

CREATE TABLE folder (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,          -- vault-relative, '' is the vault itself
  name TEXT NOT NULL,                 -- as a person reads it: INBOX, Archive/2014
  kind TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  scanned INTEGER NOT NULL,           -- ms since 1970; 0 while the fingerprint cannot be trusted
  full_check INTEGER NOT NULL DEFAULT 0 -- ms since 1970 of the last full check
);

CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  date INTEGER NOT NULL,              -- seconds since 1970, the message's own
  folder INTEGER NOT NULL,
  flags INTEGER NOT NULL,             -- FLAGS bits of part/reference.ts
  size INTEGER NOT NULL,              -- bytes of the message
  thread INTEGER NOT NULL,            -- equal for messages of one conversation (threads.ts); negative: alone
  revision INTEGER NOT NULL,          -- newest revision of extracts.db folded in; 0 none
  subject TEXT NOT NULL,
  sender TEXT NOT NULL,               -- 'Ann Lee <ann@example.org>', one a line
  attachments TEXT,                   -- JSON array of file names, NULL when there are none
  labels TEXT,                        -- JSON array, NULL when there are none
  message_id TEXT NOT NULL,           -- without brackets, '' when missing
  message_id_key INTEGER NOT NULL,    -- keyOf(message_id)
  path TEXT NOT NULL,                 -- vault-relative
  offset INTEGER,                     -- of the message inside path (mbox), else NULL
  bytes INTEGER,
  unique_name TEXT NOT NULL,          -- survives flag changes and moves; '' for uniqueOfPath(path) (lookup.ts)
  unique_key INTEGER NOT NULL,        -- keyOf of the unique name
  mtime INTEGER NOT NULL,             -- ms since 1970
  inode INTEGER NOT NULL,
  is_kept INTEGER NOT NULL,           -- 1: the body's text is in body (or empty)
  recipients TEXT NOT NULL,           -- as sender
  copies TEXT NOT NULL,               -- as sender, Cc and Bcc
  ctime INTEGER NOT NULL DEFAULT 0,   -- ms since 1970 of the file's last change of any kind; 0 not known
  losses TEXT                         -- JSON array of sentences: what of the mail was not read; NULL nothing
);
CREATE INDEX message_folder ON message (folder, id);
CREATE INDEX message_unread ON message (id) WHERE flags & 1 = 0;
CREATE INDEX message_flagged ON message (id) WHERE flags & 2 <> 0;
CREATE INDEX message_size ON message (size, id);
CREATE INDEX message_thread ON message (thread, id);
CREATE INDEX message_losses ON message (id) WHERE losses IS NOT NULL;
CREATE INDEX message_unique ON message (unique_key);
CREATE INDEX message_message_id ON message (message_id_key);

-- Each Message-ID seen as a message's own or in References and In-Reply-To: a hash of it, and the thread or another
-- key that leads to it (threads.ts).
CREATE TABLE thread_member (key INTEGER PRIMARY KEY, thread INTEGER NOT NULL);

CREATE TABLE part (
  message INTEGER NOT NULL,
  number INTEGER NOT NULL,            -- order in the message, from 0
  path TEXT NOT NULL,                 -- place in the MIME tree: 2.1
  name TEXT NOT NULL,
  declared_type TEXT NOT NULL,
  inline INTEGER NOT NULL,
  size INTEGER NOT NULL,              -- decoded bytes
  hash BLOB NOT NULL,                 -- SHA-256 of the decoded bytes
  PRIMARY KEY (message, number)
) WITHOUT ROWID;
CREATE INDEX part_hash ON part (hash, message);

-- Kept body text (fold/texts.ts), id = message * 8192 + block. A body of one block is spread over rows of 512 bytes,
-- which go on at 8128 (bodies.ts).
CREATE TABLE body (id INTEGER PRIMARY KEY, text BLOB NOT NULL);

${DICTIONARY_TABLE}

-- Messages whose attachment column is older than the text of their contents.
CREATE TABLE rewrite (message INTEGER PRIMARY KEY);

-- Contents that lost their last message and are still to be deleted from extracts.db.
CREATE TABLE orphan (hash BLOB PRIMARY KEY) WITHOUT ROWID;

CREATE VIRTUAL TABLE words USING fts5(
  ${COLUMNS.join(', ')},
  content='', contentless_delete=1, tokenize='ascii'
);

CREATE TABLE term (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  messages INTEGER NOT NULL,
  mask INTEGER NOT NULL,
  newest INTEGER NOT NULL             -- no message with a higher id holds it
);
CREATE VIRTUAL TABLE term_gram USING fts5(
  text, content='', tokenize='trigram case_sensitive 1', detail=none, columnsize=0
);
CREATE VIRTUAL TABLE gram_count USING fts5vocab(term_gram, row);
CREATE VIRTUAL TABLE word_count USING fts5vocab(words, row);
CREATE VIRTUAL TABLE word_column USING fts5vocab(words, col);
`

/**
 * extracts.db. One row a content; the states and what ends each are in sweep/transition.ts.
 *
 * Backlog and counts are read from partial indexes and from `tally`, which triggers keep, so that
 * neither grows with the archive. `limits`, `languages` and `passwords` are fingerprints, set only where
 * the result depended on them: staleness then touches what it concerns and nothing else.
 */
export const EXTRACTS_SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

CREATE TABLE content (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,          -- SHA-256 of the decoded bytes
  size INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN (${list(CONTENT_STATES)})),
  lane TEXT NOT NULL CHECK (lane IN (${list(LANES)})), -- queue that reads it next
  why TEXT NOT NULL,                  -- READ_REASONS: why it is, or was last, read
  newest INTEGER NOT NULL,            -- date in seconds of the newest message that carries it
  attempts INTEGER NOT NULL DEFAULT 0,
  due INTEGER NOT NULL DEFAULT 0,     -- seconds since 1970 of the next try, for failed-transient
  claim INTEGER NOT NULL DEFAULT 0,   -- token of the claim that may record an outcome; 0 none
  revision INTEGER NOT NULL DEFAULT 0, -- grows with each recorded change of text or type; 0 never read
  recorded INTEGER NOT NULL DEFAULT 0, -- seconds since 1970
  declared_type TEXT NOT NULL,        -- by the first part seen
  type TEXT,                          -- by the bytes
  extractor TEXT,
  version INTEGER,
  engine TEXT,
  pages INTEGER,
  ocr_pages INTEGER,
  pages_to_ocr INTEGER,
  ms INTEGER,
  chars INTEGER,
  empty TEXT,
  cut_by TEXT,
  detail TEXT,                        -- partial, declined or failed: one sentence, no text of the document
  limits TEXT,
  languages TEXT,
  passwords TEXT
);
CREATE INDEX content_pending ON content (lane, newest) WHERE state = 'pending';
CREATE INDEX content_extracting ON content (id) WHERE state = 'extracting';
CREATE INDEX content_retry ON content (due) WHERE state = 'failed-transient';
CREATE INDEX content_state ON content (state, newest) WHERE state NOT IN ('ok', 'pending');
CREATE INDEX content_revision ON content (revision) WHERE revision > 0;
CREATE INDEX content_version ON content (extractor, version) WHERE extractor IS NOT NULL;
CREATE INDEX content_type ON content (type) WHERE state = 'unsupported';
CREATE INDEX content_limits ON content (limits) WHERE limits IS NOT NULL;
CREATE INDEX content_languages ON content (languages) WHERE languages IS NOT NULL;
CREATE INDEX content_passwords ON content (passwords) WHERE passwords IS NOT NULL;

-- Kept text in blocks of at most 32 kB (fold/texts.ts), id = content * 2097152 + block.
-- ocr: words, boxes and page choices of the pages in the block, NULL when there are none.
CREATE TABLE content_text (id INTEGER PRIMARY KEY, text BLOB NOT NULL, ocr BLOB);

-- Contents by state, kept by the triggers below.
CREATE TABLE tally (state TEXT PRIMARY KEY, contents INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER content_added AFTER INSERT ON content BEGIN
  INSERT INTO tally VALUES (new.state, 1) ON CONFLICT DO UPDATE SET contents = contents + 1;
END;
CREATE TRIGGER content_changed AFTER UPDATE OF state ON content WHEN old.state <> new.state BEGIN
  UPDATE tally SET contents = contents - 1 WHERE state = old.state;
  INSERT INTO tally VALUES (new.state, 1) ON CONFLICT DO UPDATE SET contents = contents + 1;
END;
CREATE TRIGGER content_removed AFTER DELETE ON content BEGIN
  UPDATE tally SET contents = contents - 1 WHERE state = old.state;
END;
`

/** Blocks of one body in `body.id`, and of one content in `content_text.id`. */
export const BODY_BLOCKS = 8192
export const TEXT_BLOCKS = 2_097_152
