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
complete -c jobcast -f
${positions.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, commands, words, flags }: Position): string[] {
  const begin = `complete -c jobcast -n ${quoted(`__jobcast_at "${path}"`)}`
  return [
    ...commands.map(({ name, description }) => `${begin} -a ${name} -d ${quoted(description)}`),
    ...words.map((word) => `${begin} -a ${word}`),
    ...flags.map((flag) => `${begin} ${namesOf(flag)}${valueFlags(flag)} -d ${quoted(flag.description)}`),
  ]
}

function namesOf({ names }: Flag): string {
  return names
    .map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
    .join(' ')
}

function valueFlags({ takesValue, choices, isFile }: Flag): string {
  if (!takesValue) return ''
  if (isFile) return ' -r -F'
  return choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : ' -x'
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
