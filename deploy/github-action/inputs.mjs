// Inputs of action.yml as arguments of jobcast trigger. Each value follows a `=`, so that none is taken for a flag.

const flags = {
  VERSION: 'version',
  WHERE: 'where',
  GROUP: 'group',
  CANARY: 'canary',
  WAVES: 'waves',
  SOAK: 'soak',
  RATE: 'rate',
  STOP_AT: 'stop-at',
  IDEMPOTENCY_KEY: 'idempotency-key',
}
const maxNoteLength = 500

export function read(name) {
  return (process.env[`INPUT_${name}`] ?? '').trim()
}

/** `input` is for standard input: parameters may be secret, and arguments are visible to other programs. */
export function triggerArguments() {
  const problem = problemOf()
  if (problem) return { problem }
  const given = Object.entries(flags).filter(([name]) => read(name) !== '')
  const parameters = read('PARAMETERS')
  const args = [
    ...['trigger', '--json'],
    ...given.map(([name, flag]) => `--${flag}=${read(name)}`),
    ...devices().map((deviceId) => `--device=${deviceId}`),
    ...approval(),
    ...note(),
    ...(parameters ? ['--params-file=-'] : []),
    ...['--', read('JOB')],
  ]
  return { args, input: parameters }
}

function problemOf() {
  const missing = ['URL', 'JOB'].find((name) => read(name) === '')
  if (missing) return `Set the input ${missing.toLowerCase()}.`
  const targets = ['DEVICES', 'WHERE', 'GROUP'].filter((name) => read(name) !== '')
  if (targets.length !== 1) return 'Set one of the inputs devices, where and group.'
  if (!/^(?:true|false)$/.test(read('WAIT'))) return 'The input wait is true or false.'
  if (!/^(?:|true|false|[1-9]\d?)$/.test(read('APPROVAL'))) return 'The input approval is true or a number.'
  return undefined
}

function devices() {
  const lines = read('DEVICES').split('\n')
  return lines.map((line) => line.trim()).filter((line) => line !== '')
}

function approval() {
  const wanted = read('APPROVAL')
  if (wanted === '' || wanted === 'false') return []
  return wanted === 'true' ? ['--approval'] : [`--approvals=${wanted}`]
}

/** Who looks at the run finds the workflow. It is the same when the workflow is run again, as the idempotency key requires. */
function note() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: runId } = process.env
  const address = server && repository && runId ? `${server}/${repository}/actions/runs/${runId}` : ''
  const text = read('NOTE') || address
  return text === '' ? [] : [`--note=${text.slice(0, maxNoteLength)}`]
}
