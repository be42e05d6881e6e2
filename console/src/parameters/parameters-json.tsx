// Values of parameters as JSON: an object with known names.

import { useState } from 'preact/hooks'
import { findProblem, JsonField } from '../parts/json-field.tsx'

const maxBytes = 16 * 1024

type Props = {
  given: Record<string, unknown>
  names: readonly string[]
  /** Undefined: what is typed cannot be used. */
  onChange: (given: Record<string, unknown> | undefined) => void
}

export function ParametersJson({ given, names, onChange }: Props) {
  const [text, setText] = useState(() => JSON.stringify(given, null, 2))
  const unknownIn = (typed: string) => Object.keys(JSON.parse(typed)).find((name) => !names.includes(name))
  const isObject = (typed: string) => findProblem(typed, maxBytes) === undefined
  const unknown = isObject(text) ? unknownIn(text) : undefined
  return (
    <JsonField
      label="Values"
      value={text}
      onInput={(typed) => {
        setText(typed)
        const isRight = isObject(typed) && unknownIn(typed) === undefined
        onChange(isRight ? JSON.parse(typed) : undefined)
      }}
      maxBytes={maxBytes}
      error={unknown === undefined ? undefined : `${unknown} is not a parameter of the job.`}
    />
  )
}
