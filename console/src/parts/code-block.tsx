/** Text of a program, as it is. It scrolls, also by keyboard. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by the arrow keys
    <section class="code-block" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  )
}
