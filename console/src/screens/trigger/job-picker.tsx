// Selects a job by a fuzzy search over the names. An ARIA combobox: the focus stays in the field, and arrow keys move through the
// matches.

import type { Job } from '@jobcast/client'
import { useEffect, useId, useState } from 'preact/hooks'
import { Field } from '../../parts/field.tsx'
import { fuzzyFilter } from '../../parts/fuzzy-match.ts'
import { isFocusFree } from '../../parts/is-focus-free.ts'
import { Marked } from '../../parts/marked.tsx'

type Props = {
  jobs: readonly Job[]
  value: string
  error: string | undefined
  onChoose: (jobName: string) => void
}

const shownAtMost = 50

export function JobPicker({ jobs, value, error, onChoose }: Props) {
  const [text, setText] = useState(value)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(0)
  const [isTyping, setTyping] = useState(false)
  const listId = useId()
  // When it is opened again it lists all jobs, not only the selected one; typed text filters the list.
  const found = fuzzyFilter(isTyping ? text : '', jobs, ({ jobName }) => jobName).slice(0, shownAtMost)
  // A name may be typed before the jobs are loaded.
  useEffect(() => {
    if (text !== value && jobs.some(({ jobName }) => jobName === text)) onChoose(text)
  }, [jobs])
  const close = () => {
    setOpen(false)
    setTyping(false)
    setActive(0)
  }
  const choose = (jobName: string) => {
    setText(jobName)
    close()
    onChoose(jobName)
  }
  /** An exact match takes precedence over longer names that contain it. */
  const chosenByEnter = () =>
    active === 0 && isTyping && jobs.some(({ jobName }) => jobName === text)
      ? text
      : found[active]?.item.jobName
  const onInput = (typed: string) => {
    setText(typed)
    setTyping(true)
    setActive(0)
    setOpen(true)
    onChoose(jobs.some(({ jobName }) => jobName === typed) ? typed : '')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      if (!isOpen) setOpen(true)
      else setActive((active + step + found.length) % Math.max(1, found.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const jobName = chosenByEnter()
      if (isOpen && jobName !== undefined) choose(jobName)
    } else if (event.key === 'Escape' && isOpen) {
      event.preventDefault()
      close()
    }
  }
  return (
    <div class="job-picker">
      <Field label="Job" error={error}>
        {(control) => (
          <input
            {...control}
            type="text"
            role="combobox"
            aria-expanded={isOpen}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={isOpen && found.length > 0 ? `${listId}-${active}` : undefined}
            autoComplete="off"
            spellcheck={false}
            placeholder="Search jobs"
            value={text}
            ref={(input) => {
              if (input && value === '' && isFocusFree()) input.focus()
            }}
            onInput={(event) => onInput(event.currentTarget.value)}
            onClick={() => setOpen(true)}
            onBlur={close}
            onKeyDown={onKeyDown}
          />
        )}
      </Field>
      <div id={listId} role="listbox" aria-label="Jobs" class="options" hidden={!isOpen}>
        {found.map(({ item: { jobName, description }, positions }, index) => (
          <div
            key={jobName}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            // Handled before the field loses the focus, which closes the list.
            onMouseDown={(event) => {
              event.preventDefault()
              choose(jobName)
            }}
            ref={(element) => {
              if (isOpen && index === active) element?.scrollIntoView({ block: 'nearest' })
            }}
          >
            <span>
              <Marked text={jobName} positions={positions} />
            </span>
            <span class="quiet">{description}</span>
          </div>
        ))}
      </div>
      {isOpen && found.length === 0 && text !== '' && <p class="options none quiet">No jobs match.</p>}
    </div>
  )
}
