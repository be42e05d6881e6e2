import type { ComponentChildren } from 'preact'
import '../styles/forms.css'

/** What there is to know about one thing, each with its name. */
export function Facts({ facts }: { facts: { name: string; value: ComponentChildren }[] }) {
  return (
    <dl class="facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
