import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../api/use-action.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNote } from './error-note.tsx'

type Props = {
  label: string
  /** Describes the effect, and whether it can be undone. */
  question: ComponentChildren
  /** The text of the confirming button; default: the label. */
  confirm?: string
  /** The action loses nothing. */
  isHarmless?: boolean
  /** The most likely action of the screen. */
  isPrimary?: boolean
  /** The reason must be shown nearby. */
  isDisabled?: boolean
  work: () => Promise<unknown>
}

/** For actions that cannot be undone: asks for confirmation, and stays open with the error if the action fails. */
export function ConfirmButton(props: Props) {
  const {
    label,
    question,
    confirm = label,
    isHarmless = false,
    isPrimary = false,
    isDisabled = false,
    work,
  } = props
  const [isOpen, setOpen] = useState(false)
  const action = useAction(async () => {
    await work()
    setOpen(false)
  })
  return (
    <>
      <button
        type="button"
        class={isPrimary ? 'primary' : isHarmless ? '' : 'danger'}
        disabled={isDisabled}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {isOpen && (
        <Dialog title={label} onClose={() => setOpen(false)}>
          <div>{question}</div>
          <ErrorNote error={action.error} />
          <footer>
            <button type="button" onClick={() => setOpen(false)}>
              Back
            </button>
            <button
              type="button"
              class={isHarmless ? 'primary' : 'danger primary'}
              disabled={action.isRunning}
              onClick={() => action.run()}
            >
              {confirm}
            </button>
          </footer>
        </Dialog>
      )}
    </>
  )
}
