read question; echo hello; cat
