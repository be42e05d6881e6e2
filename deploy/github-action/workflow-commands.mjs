// What GitHub reads: commands on standard output, and the files of outputs and of the summary.

import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'

const maxText = 400

/** As one line without control characters, cut to a length. */
export function plain(text) {
  const line = String(text ?? '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
  return line.length > maxText ? `${line.slice(0, maxText).toWellFormed()}…` : line
}

export function annotate(kind, title, message) {
  const escapedTitle = escapeData(plain(title)).replaceAll(':', '%3A').replaceAll(',', '%2C')
  process.stdout.write(`::${kind} title=${escapedTitle}::${escapeData(plain(message))}\n`)
}

function escapeData(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** What follows is not printed in logs. */
export function mask(secret) {
  if (secret) process.stdout.write(`::add-mask::${escapeData(secret)}\n`)
}

/** Prints text in which nothing is a command. */
export function withoutCommands(text) {
  const token = randomUUID()
  const end = text.endsWith('\n') ? '' : '\n'
  process.stdout.write(`::stop-commands::${token}\n${text}${end}::${token}::\n`)
}

export function setOutputs(outputs) {
  const delimiter = `end-${randomUUID()}`
  const entries = Object.entries(outputs)
  append(
    'GITHUB_OUTPUT',
    entries.map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`),
  )
}

export function addSummary(html) {
  append('GITHUB_STEP_SUMMARY', [html, '\n'])
}

function append(variable, texts) {
  const file = process.env[variable]
  if (file) appendFileSync(file, texts.join(''))
}
