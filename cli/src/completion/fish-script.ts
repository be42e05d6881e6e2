import type { Flag, Position } from './positions.ts'

export function fishScript(positions: Position[]): string {
  const paths = positions.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]))
  return `# fish completion for jobcast
set -g __jobcast_paths ${paths.join(' ')}
function __jobcast_at
    set -l at ""
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word" $__jobcast_paths
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
function __jobcast_names
    set -l words (commandline -opc)
    set -l begin (commandline -ct)
    command $words[1] complete-names $argv[1] "$begin" -- $words[2..-1] </dev/null 2>/dev/null
end
complete -c jobcast -f
${positions.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, commands, words, names, flags }: Position): string[] {
  const begin = `complete -c jobcast -n ${quoted(`__jobcast_at "${path}"`)}`
  return [
    ...commands.map(({ name, description }) => `${begin} -a ${name} -d ${quoted(description)}`),
    ...words.map((word) => `${begin} -a ${word}`),
    ...(names ? [`${begin} -a '(__jobcast_names ${names})'`] : []),
    ...flags.map((flag) => `${begin} ${formsOf(flag)}${valueFlags(flag)} -d ${quoted(flag.description)}`),
  ]
}

function formsOf({ forms }: Flag): string {
  return forms
    .map((form) => (form.startsWith('--') ? `-l ${form.slice(2)}` : `-s ${form.slice(1)}`))
    .join(' ')
}

function valueFlags({ takesValue, choices, isFile, names }: Flag): string {
  if (!takesValue) return ''
  if (names) return ` -x -a '(__jobcast_names ${names})'`
  if (isFile) return ' -r -F'
  return choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : ' -x'
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
