import type { ComponentChildren } from 'preact'

export type Fact = { name: string; value: ComponentChildren }

/** A list of named facts. */
export function Facts({ facts }: { facts: Fact[] }) {
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
