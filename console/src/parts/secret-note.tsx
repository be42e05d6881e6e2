// A secret that the server shows only once. The page does not store it, so it cannot be shown again after leaving the screen.

import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'
import '../styles/forms.css'

type Props = {
  title: string
  secret: string
  /** A description of its use. */
  children?: ComponentChildren
  /** Ready to be pasted into a terminal. */
  commands?: { title: string; line: string }[]
  onDone: () => void
}

export function SecretNote({ title, secret, children, commands = [], onDone }: Props) {
  const element = useRef<HTMLElement>(null)
  const titleId = useId()
  useEffect(() => {
    element.current?.focus()
    element.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <section class="secret-note" ref={element} tabIndex={-1} aria-labelledby={titleId}>
      <header>
        <Icon name="keys" />
        <h2 id={titleId}>{title}</h2>
        <button type="button" onClick={onDone}>
          Done
        </button>
      </header>
      <div class="quiet">{children ?? 'It is shown only once.'}</div>
      <div class="secret-lines">
        <Line text={secret} label="Copy" />
        {commands.map((command) => (
          <div key={command.title}>
            <h3>{command.title}</h3>
            <Line text={command.line} label="Copy command" />
          </div>
        ))}
      </div>
    </section>
  )
}

function Line({ text, label }: { text: string; label: string }) {
  return (
    <div class="code-line">
      <code>
        {text.split(' ').map((word, index) => (
          <Fragment key={index}>
            {index > 0 && ' '}
            <span>{word}</span>
          </Fragment>
        ))}
      </code>
      <CopyButton text={text} label={label} />
    </div>
  )
}
