// Colours: those of the reports, light or dark, as the system says or as the reader has chosen.

export interface Theme { dark: boolean; back: string; panel: string; text: string; muted: string; grid: string; drop: string; mark: string; link: string }

const query = matchMedia('(prefers-color-scheme: dark)');
const CHOICES = ['system', 'light', 'dark'] as const;

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const dark = of('dark') === '1';
  return { dark, back: of('back'), panel: of('panel'), text: of('text'), muted: of('muted'), grid: of('grid'), drop: of('drop'), mark: of('mark'), link: of('link') };
}

/** Lets a button go through the choices; `changed` is called when colours are others. */
export function choose(button: HTMLButtonElement, changed: () => void): void {
  let choice = CHOICES.indexOf((stored() ?? 'system') as (typeof CHOICES)[number]);
  const apply = () => {
    const name = CHOICES[choice] ?? 'system';
    document.documentElement.dataset['theme'] = name;
    button.setAttribute('aria-label', `Colours: ${name === 'system' ? 'as the system' : name}`);
    button.textContent = name === 'light' ? '☀' : name === 'dark' ? '☾' : '◐';
  };
  apply();
  button.addEventListener('click', () => {
    choice = (choice + 1) % CHOICES.length;
    try { localStorage.setItem('cwnd-theme', CHOICES[choice]!); } catch { /* a browser that stores nothing */ }
    apply();
    changed();
  });
  query.addEventListener('change', changed);
}

function stored(): string | null {
  try { return localStorage.getItem('cwnd-theme'); } catch { return null; }
}
