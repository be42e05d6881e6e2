/** A block of code. It scrolls, also by keyboard. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it with the arrow keys
    <section class="code-block" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  )
}
