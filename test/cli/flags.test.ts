import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.js'
import { UsageError } from '../../src/cli/exit.js'
import { COMMAND_NAMES, FLAGS, flagsOf, parseArguments } from '../../src/cli/flags.js'
import { commandHelp, overview } from '../../src/cli/help.js'
import { DEFAULT_LIMITS } from '../../src/part/limits.js'

describe('the table of flags', () => {
  test('has unique kebab-case names, and a sentence and a command for each', () => {
    const names = FLAGS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { name, help, commands, kind, choices } of FLAGS) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
      expect(help, name).not.toBe('')
      expect(commands.length, name).toBeGreaterThan(0)
      expect(kind === 'choice', name).toBe(choices !== undefined)
    }
  })

  test('has a flag for each limit', () => {
    expect(FLAGS.flatMap(({ limit }) => limit ?? [])).toEqual(Object.keys(DEFAULT_LIMITS))
  })

  test('is shown whole in the help of each command', () => {
    for (const command of COMMANDS) {
      const help = commandHelp(command)
      expect(overview()).toContain(command.summary)
      for (const flag of flagsOf(command.name)) expect(help).toContain(`--${flag.name}`)
    }
  })
})

describe('parsing', () => {
  test('takes --no-keep-texts for --keep-texts off, and no other flag so', () => {
    const given = parseArguments('index', ['--no-keep-texts', 'vault', '--no-ocr'])
    expect([given.isOn('keep-texts'), given.isOn('ocr')]).toEqual([false, false])
    expect(given.positional).toEqual(['vault'])
    for (const words of [
      ['--no-limit'],
      ['--no-json'],
      ['--no-ocr=on'],
      ['--no-ocr', '--ocr', 'on'],
    ])
      expect(() => parseArguments('index', words), words.join(' ')).toThrow(UsageError)
  })

  test('takes values after a space and after an equals sign', () => {
    const given = parseArguments('index', ['vault', '--index', 'x', '--workers=3', '--json'])
    expect(given.positional).toEqual(['vault'])
    expect(given.text('index')).toBe('x')
    expect(given.number('workers')).toBe(3)
    expect(given.has('json')).toBe(true)
    expect(given.isOn('ocr')).toBeUndefined()
  })

  test('leaves a word with one dash to the query of a search, and everything after two dashes', () => {
    const given = parseArguments('search', ['v', 'budget', '-draft', '--', '--limit', '-h'])
    expect(given.positional).toEqual(['v', 'budget', '-draft', '--limit', '-h'])
  })

  test('turns flags of limits into limits, with units for bytes', () => {
    const given = parseArguments('extract', ['--part-bytes', '12MB', '--ocr-pages', '60', 'x'])
    expect(given.limits()).toEqual({ partBytes: 12_000_000, ocrPages: 60 })
  })

  test.each([
    [['--worker', '2'], /did you mean --workers/],
    [['--limit', '2'], /--limit belongs to search/],
    [['--workers'], /--workers needs a value: --workers N/],
    [['--workers', '0'], /must be a whole number from 1, not "0"/],
    [['--workers', '2.5'], /must be a whole number/],
    [['--workers', '1', '--workers', '2'], /given twice/],
    [['--ocr', 'maybe'], /must be one of on, off, not "maybe"/],
    [['--json=1'], /takes no value/],
    [['--part-bytes', 'lots'], /must be bytes/],
    [['-j'], /flags begin with two dashes/],
  ])('refuses %j of index with a sentence', (words, message) => {
    const parse = (): unknown => parseArguments('index', words)
    expect(parse).toThrow(UsageError)
    expect(parse).toThrow(message)
  })

  test('never throws anything but a usage error, whatever is typed', () => {
    for (const command of COMMAND_NAMES)
      for (const word of ['--', '-', '--=', '--=x', '---', '--help=', '\0', '--\u{1f600}', ''])
        try {
          parseArguments(command, [word, word])
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError)
        }
  })
})
