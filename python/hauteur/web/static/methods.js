// The page of a method: its position is one of its game; any other game begins at its start.

const form = document.getElementById("trial");

if (form) {
  const { defaultValue: fen } = form.fen, { value: game } = form.game;
  form.game.onchange = () => { form.fen.value = form.game.value === game ? fen : ""; };
}
