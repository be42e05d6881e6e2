// A form generated from the schema of a job's parameters, with errors at each field. Loaded if the job has parameters.

import './parameters.css'
import type { ParameterProperty, ParameterSchema } from '@jobcast/contract/parameters'
import { useEffect, useState } from 'preact/hooks'
import { Field, SelectField, TextField } from '../parts/field.tsx'
import { judgeTexts, type ParameterTexts } from './parameter-texts.ts'
import { type ParametersDraft, refusedParameter, textOfValue, textsOf } from './parameters-draft.ts'
import { ParametersJson } from './parameters-json.tsx'

type Props = {
  schema: ParameterSchema
  document: unknown
  draft: ParametersDraft
  onChange: (draft: ParametersDraft) => void
  error: unknown
}

export default function ParametersForm({ schema, document, draft, onChange, error }: Props) {
  const [isJson, setJson] = useState(false)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const { problems } = judgeTexts(schema, document, draft.texts)
  const change = (texts: ParameterTexts) => {
    const judged = judgeTexts(schema, document, texts)
    onChange({ texts, given: judged.given, isRight: judged.problems.size === 0, secrets: secretsOf(schema) })
  }
  // The defaults may be sufficient without any input.
  useEffect(() => change(draft.texts), [schema, document])
  const toggleJson = () => {
    // What could not be used as JSON is dropped.
    if (isJson) change(draft.texts)
    setJson(!isJson)
  }
  const otherView = isJson ? 'Edit as form' : 'Edit as JSON'
  const refused = refusedParameter(error)
  const errorOf = (name: string): string | undefined => {
    const problem = problems.get(name)
    if (problem !== undefined && (touched.has(name) || problem !== 'is required')) return sentence(problem)
    return refused?.name === name ? refused.text : undefined
  }
  return (
    <fieldset class="stack parameters-form">
      <legend>{schema.title ?? 'Parameters'}</legend>
      {schema.description && <p class="quiet">{schema.description}</p>}
      {isJson && (
        <ParametersJson
          given={draft.given}
          names={Object.keys(schema.properties ?? {})}
          onChange={(given) => (given ? change(textsOf(given)) : onChange({ ...draft, isRight: false }))}
        />
      )}
      {isJson &&
        [...problems].map(([name, problem]) => (
          <p class="field-error" key={name}>
            <bdi>{name || 'The parameters'}</bdi> {problem}.
          </p>
        ))}
      {!isJson &&
        Object.entries(schema.properties ?? {}).map(([name, property]) => (
          <div key={name} onFocusOut={() => setTouched((before) => new Set(before).add(name))}>
            <ParameterField
              name={name}
              property={property}
              isRequired={schema.required?.includes(name) ?? false}
              text={draft.texts[name] ?? ''}
              onInput={(text) => change({ ...draft.texts, [name]: text })}
              error={errorOf(name)}
            />
          </div>
        ))}
      {!isJson && problems.has('') && <p class="field-error">The parameters {problems.get('')}.</p>}
      {secretsOf(schema).length === 0 && (
        <button
          type="button"
          aria-label={`${otherView}: ${schema.title ?? 'Parameters'}`}
          onClick={toggleJson}
        >
          {otherView}
        </button>
      )}
    </fieldset>
  )
}

/** "must be a number" */
function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`
}

function secretsOf({ properties = {} }: ParameterSchema): string[] {
  return Object.keys(properties).filter((name) => properties[name]?.writeOnly)
}

type FieldProps = {
  name: string
  property: ParameterProperty
  isRequired: boolean
  text: string
  onInput: (text: string) => void
  error: string | undefined
}

function ParameterField({ name, property, isRequired, text, onInput, error }: FieldProps) {
  const { title, writeOnly, type } = property
  const label = title ?? name
  const hint = hintOf(property, isRequired)
  const choices = choicesOf(property)
  const placeholder = property.default === undefined ? '' : textOfValue(property.default)
  if (choices) {
    const first = { value: '', label: property.default === undefined ? 'Not set' : `Default: ${placeholder}` }
    return (
      <SelectField
        {...{ label, hint, error }}
        value={text}
        onChange={onInput}
        options={[first, ...choices]}
      />
    )
  }
  if (type === 'array') {
    return (
      <Field {...{ label, hint, error }}>
        {(control) => (
          <textarea
            {...control}
            rows={Math.min(8, Math.max(2, text.split('\n').length))}
            value={text}
            placeholder={placeholder}
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )}
      </Field>
    )
  }
  return (
    <TextField
      {...{ label, hint, error }}
      value={text}
      onInput={onInput}
      placeholder={placeholder}
      type={writeOnly ? 'password' : 'text'}
    />
  )
}

function choicesOf({ type, enum: choices, writeOnly }: ParameterProperty) {
  if (writeOnly || type === 'array') return undefined
  const values = choices ?? (type === 'boolean' ? [true, false] : undefined)
  return values?.map((value) => ({ value: String(value), label: String(value) }))
}

const typeWords = {
  string: '',
  number: 'A number.',
  integer: 'An integer.',
  boolean: '',
  array: 'One per line.',
}

function hintOf(property: ParameterProperty, isRequired: boolean): string {
  const { description, writeOnly, type, deprecated } = property
  return [
    description && (/[.!?]$/.test(description) ? description : `${description}.`),
    typeWords[type],
    deprecated && 'Deprecated.',
    writeOnly && 'Secret: it will not be shown again.',
    isRequired && property.default === undefined && 'Required.',
  ]
    .filter(Boolean)
    .join(' ')
}
