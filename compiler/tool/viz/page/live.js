// live.js - a page that `fsc explore` serves: it comes anew when there is a newer one.
//
// In: the number of the page; of a page in a file there is none. Out: a reload, after `before` has kept what is shown.

function listenToServer(number, before) {
    if (number === undefined) return;
    const events = new EventSource("events"), say = (text) => document.getElementById("live").textContent = text;
    events.onmessage = (e) => {
        say("live");
        if (Number(e.data) === number) return;
        before();
        events.close();
        location.reload();
    };
    events.addEventListener("busy", () => say("compiling…"));
    events.addEventListener("end", () => {
        events.close(); // nobody is there to come back to
        say("fsc explore has ended");
    });
}
