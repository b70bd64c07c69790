// The look of boards and the sound of moves, as this browser keeps them (localStorage).

const KEPT = "hauteur-look";
const look = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
let audio = null;

function apply() {
  for (const name of ["squares", "pieces"]) document.documentElement.dataset[name] = look[name] ?? "";
}

// A short tone for a move, a lower and longer one for the end of the game; none unless it was asked for.
export function sound(isEnd) {
  if (!look.sound) return;
  audio ??= new AudioContext();
  const tone = audio.createOscillator(), gain = audio.createGain(), length = isEnd ? 0.4 : 0.06;
  tone.frequency.value = isEnd ? 220 : 440;
  gain.gain.setValueAtTime(0.2, audio.currentTime);
  gain.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + length);
  tone.connect(gain).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + length);
}

apply();
for (const control of document.querySelectorAll("[data-look]")) {
  const name = control.dataset.look, isSwitch = control.type === "checkbox";
  if (isSwitch) control.checked = Boolean(look[name]);
  else control.value = look[name] ?? "";
  control.onchange = () => {
    look[name] = isSwitch ? control.checked : control.value;
    localStorage.setItem(KEPT, JSON.stringify(look));
    apply();
  };
}
